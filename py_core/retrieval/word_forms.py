"""Forms of English words that no rule of endings brings together: went is a form of go.

Takes a lower-case word, gives its plain form or the word itself. Does not know endings: stemming
follows after it.
"""

_FORMS = """
be: been
become: became
begin: began begun
bend: bent
bite: bit bitten
blow: blew blown
break: broke broken
bring: brought
build: built
buy: bought
catch: caught
choose: chose chosen
come: came
deal: dealt
dig: dug
draw: drew drawn
dream: dreamt
drink: drank drunk
drive: drove driven
eat: ate eaten
fall: fell fallen
feed: fed
feel: felt
fight: fought
find: found
fly: flew flown
forget: forgot forgotten
forgive: forgave forgiven
freeze: froze frozen
get: got gotten
give: gave given
go: went gone goes
grow: grew grown
hang: hung
hear: heard
hide: hid hidden
hold: held
keep: kept
know: knew known
lead: led
learn: learnt
leave: left
lend: lent
lose: lost
make: made
meet: met
pay: paid
ride: rode ridden
ring: rang rung
rise: rose risen
run: ran
say: said
see: saw seen
seek: sought
sell: sold
send: sent
shake: shook shaken
shoot: shot
show: shown
sing: sang sung
sink: sank sunk
sit: sat
sleep: slept
speak: spoke spoken
spend: spent
stand: stood
steal: stole stolen
stick: stuck
swear: swore sworn
swim: swam swum
take: took taken
teach: taught
tear: tore torn
tell: told
think: thought
throw: threw thrown
understand: understood
wake: woke woken
wear: wore worn
win: won
write: wrote written
child: children kid kids
foot: feet
life: lives
man: men
mouse: mice
person: people
tooth: teeth
wife: wives
woman: women
"""


def _read_forms() -> dict[str, str]:
    forms = {}
    for line in _FORMS.split("\n"):
        plain, _, others = line.partition(":")
        forms.update(dict.fromkeys(others.split(), plain))
    return forms


PLAIN_FORMS = _read_forms()


def find_plain_form(word: str) -> str:
    """Give the plain form of an irregular word, any other word as it is."""
    return PLAIN_FORMS.get(word, word)

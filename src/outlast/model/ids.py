"""Run ids that sort by time and can be read aloud: `1115-quiet-otter-7k`."""

from __future__ import annotations

import datetime
import secrets

_QUALITIES = (
    "able agile amber ample apt azure bold brave brief bright brisk broad calm candid civil clear clever cosy crisp "
    "daring deft eager early easy even fair fast fierce fine firm fleet fond frank free fresh frosty gentle glad "
    "golden good grand green happy hardy hazel honest humble ideal jolly keen kind large level light lively loyal "
    "lucid lucky mellow merry mild modest neat nimble noble novel open patient plain polite proud quick quiet rapid "
    "ready rich robust rosy round royal rustic sandy serene sharp shiny silent silver simple sleek smart smooth snowy "
    "sober solid sound spry stable steady still stout strong sturdy subtle sunny super sure swift tender tidy tough "
    "true trusty upbeat urban vivid warm wise witty young zesty"
).split()
_ANIMALS = (
    "adder ant badger bat bear beaver bee bison bittern boar bream bull camel carp cat civet cobra cod condor coot "
    "crab crane cricket crow deer dingo dog dove drake duck eagle eel egret eland elk ermine falcon ferret finch fox "
    "frog gannet gecko genet gibbon gnu goat goose grouse gull hare hawk hen heron hornet horse hyena ibex ibis "
    "iguana impala jackal jay kestrel kite kiwi koala kudu lark lemur lion lizard llama lynx macaw magpie marmot "
    "marten mink mole moose moth mouse mule newt ocelot okapi oriole oryx osprey otter owl ox panda panther parrot "
    "pelican perch pigeon pika pike plover pony puffin puma quail rabbit raven robin rook salmon seal shark sheep "
    "shrew shrike skink sloth snail snipe sparrow squid stag starling stoat stork swan swift tapir teal tern tiger "
    "toad trout turtle viper vole walrus wasp weasel whale wolf wombat wren yak zebra"
).split()
# No 0/o, 1/l/i: an id is read over the telephone sooner or later.
_SUFFIX = "abcdefghjkmnpqrstuvwxyz23456789"


def new_run_id(now: datetime.datetime | None = None) -> str:
    """A fresh id. Within a day two ids collide once in about 25 million pairs; submitting checks anyway."""
    moment = now or datetime.datetime.now()
    words = f"{secrets.choice(_QUALITIES)}-{secrets.choice(_ANIMALS)}"
    return f"{moment:%m%d}-{words}-{secrets.choice(_SUFFIX)}{secrets.choice(_SUFFIX)}{secrets.choice(_SUFFIX)}"

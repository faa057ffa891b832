"""How models are made; a recipe is trained once, however many rows of the table use the model."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from halfword.core.fields import changed
from halfword.training.network.options import TEACHERS as TEACHER_COUNT
from halfword.training.network.options import NetworkTraining, preset_named

_QUICK = {"embedding_size": 32, "epochs": 4, "time_limit": 0.5}
_SMALLER = 10  # factor by which a quick report reduces the hidden units


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to make a model: its parts, the training of its network, and the other models that this needs."""

    name: str  # of its file
    parts: tuple[str, ...] = ("network",)
    network: NetworkTraining | None = None  # None: no network, or that of the base
    base: "Recipe | None" = None  # the model whose pieces and network are taken over
    teachers: "tuple[Recipe, ...]" = ()  # the models that the network is distilled from

    def needed(self) -> "tuple[Recipe, ...]":
        """Return the recipes that must be finished before this one."""
        return (*(() if self.base is None else (self.base,)), *self.teachers)

    @property
    def learns_network(self) -> bool:
        """Whether a network has to be trained for this model."""
        return self.network is not None or any(recipe.learns_network for recipe in self.needed())

    def describe(self) -> dict[str, Any]:
        """Return, as JSON, what the model depends on, except for the models that it needs."""
        return {"parts": list(self.parts), "network": asdict(self.network) if self.network else None}

    def quick(self) -> "Recipe":
        """Return a similar recipe that takes seconds."""
        return replace(
            self,
            network=None if self.network is None else _quick(self.network),
            base=None if self.base is None else self.base.quick(),
            teachers=tuple(teacher.quick() for teacher in self.teachers),
        )


def _quick(network: NetworkTraining) -> NetworkTraining:
    sizes = network.network
    smaller = {"hidden_size": max(sizes.hidden_size // _SMALLER, 8), "summary_size": sizes.summary_size // _SMALLER}
    return changed(network, {**_QUICK, **smaller})


# The paper's pieces, network and number of epochs. The learning rate rises and falls as in all our training
# (docs/research/training.md); in the paper it is constant, 0.005.
_PAPER = changed(NetworkTraining(), {"coverage": 0.9995})


def paper_network(kind: str, size: int = 256, name: str | None = None, **changes: Any) -> Recipe:
    """Return the paper's network over `size` pieces of one kind, with some options changed."""
    changes = {"kind": kind, "size": size, **changes}
    return Recipe(name=name or (kind if kind == "char" else f"{kind}-{size}"), network=changed(_PAPER, changes))


def blend(preset: str, *teachers: Recipe) -> Recipe:
    """Return a model of all parts; its network is a recipe of its own, so that a GPU machine can train it."""
    network = Recipe(name=f"{preset}-network", network=preset_named(preset), teachers=teachers)
    return Recipe(name=preset, parts=("popular", "ngram", "network"), base=network)


TEACHER = Recipe(name="teacher", network=preset_named("teacher"))
TEACHERS = (
    TEACHER,
    *(
        Recipe(name=f"teacher-{seed + 1}", network=changed(preset_named("teacher"), {"seed": seed}))
        for seed in range(1, TEACHER_COUNT)
    ),
)
# A network of the paper's size over the teacher's pieces.
_SMALL = {"embedding_size": 100, "hidden_size": 600, "summary_size": 0, "epochs": 30}
_ONE_TEACHER = {**_SMALL, "teacher_share": 0.7}  # one teacher is less reliable than several
SMALL = Recipe(name="small", network=changed(preset_named("default"), _SMALL))
STUDENT = Recipe(name="student", network=changed(preset_named("taught"), _ONE_TEACHER), teachers=(TEACHER,))
POPULAR = Recipe(name="popular", parts=("popular",))

"""The models of a report: each recipe is trained once, and recognised by what it was made from."""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfword.core.card import Card
from halfword.core.errors import HalfwordError, ModelFileError
from halfword.core.progress import Progress, named
from halfword.data.dataset import Dataset
from halfword.evaluation.reproduce.recipes import Recipe
from halfword.evaluation.reproduce.records import FORMAT, as_read, digest_of, read_json, write_json
from halfword.training.network.options import NetworkTraining, checkpoint_path
from halfword.training.options import NO_BACKGROUND, TrainOptions
from halfword.training.train import train


class Models:
    """The folder of models; next to `NAME.halfword` is `NAME.json`, which says what the file was made from."""

    def __init__(self, folder: Path, data: Dataset, fingerprint: str, device: str | None, progress: Progress) -> None:
        self._folder = folder
        self._data = data
        self._fingerprint = fingerprint
        self._device = device
        self._progress = progress

    def path(self, recipe: Recipe) -> Path:
        """Return the path of the model, which may not exist yet."""
        return self._folder / f"{recipe.name}.halfword"

    def record(self, recipe: Recipe) -> dict[str, Any] | None:
        """Return the record of a finished model, or None; the model file itself may be on another machine."""
        found = read_json(self._record_path(recipe))
        made_from = self._made_from(recipe)
        return found if made_from is not None and found.get("made_from") == made_from else None

    def records(self, recipes: Iterable[Recipe]) -> dict[str, dict[str, Any]]:
        """Return the records of the finished models among `recipes` and the models that they need, by name."""
        found: dict[str, dict[str, Any]] = {}
        for recipe in recipes:
            found |= self.records(recipe.needed())
            record = self.record(recipe)
            if record is not None:
                found[recipe.name] = record
        return found

    def ready(self, recipe: Recipe) -> Path:
        """Return the file of a model; train it if it does not exist yet."""
        path = self.path(recipe)
        if self.record(recipe) is not None and path.exists():
            return path
        for needed in recipe.needed():
            self.ready(needed)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._record_path(recipe).unlink(missing_ok=True)
        begun = time.monotonic()
        card = self._trained(recipe)
        about = {
            "format": FORMAT,
            "made_from": self._made_from(recipe),
            "model": digest_of(path),
            "bytes": path.stat().st_size,
            "seconds": round(time.monotonic() - begun, 1),
            "card": card.parts.to_json(),
        }
        write_json(self._record_path(recipe), about)
        return path

    def _record_path(self, recipe: Recipe) -> Path:
        return self._folder / f"{recipe.name}.json"

    def _made_from(self, recipe: Recipe) -> dict[str, Any] | None:
        """Return what a model is made from; None if a model that it needs is missing."""
        needed = [self.record(other) for other in recipe.needed()]
        if None in needed:
            return None
        models = [record["model"] for record in needed if record is not None]
        return as_read({"data": self._fingerprint, "recipe": recipe.describe(), "models": models})

    def _trained(self, recipe: Recipe) -> Card:
        checkpoint = checkpoint_path(self.path(recipe))
        if checkpoint.exists():
            try:
                return self._train(recipe, resume=True)
            except ModelFileError:  # it belongs to another recipe, or is damaged
                checkpoint.unlink()
        return self._train(recipe, resume=False)

    def _train(self, recipe: Recipe, resume: bool) -> Card:
        options = TrainOptions(
            parts=recipe.parts,
            network=self._taught(recipe) or TrainOptions().network,
            base=self.path(recipe.base) if recipe.base else None,
            device=self._device,
            resume=resume,
            hold_out=True,
            background=NO_BACKGROUND,  # its figures are compared with rivals that know nothing but this log
            note="Trained by halfword reproduce.",
        )
        try:
            return train(self._data, self.path(recipe), options, named(recipe.name, self._progress))
        except HalfwordError as error:
            error.args = (str(error).removesuffix(" and --resume"),)  # `reproduce` always resumes
            raise

    def _taught(self, recipe: Recipe) -> NetworkTraining | None:
        """Return the training options of the network, with the files of its teachers."""
        if recipe.network is None or not recipe.teachers:
            return recipe.network
        teachers: dict[str, Any] = {"teachers": tuple(str(self.path(teacher)) for teacher in recipe.teachers)}
        return replace(recipe.network, **teachers)

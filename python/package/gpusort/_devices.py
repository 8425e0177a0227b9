"""The devices that sorts run on."""

from __future__ import annotations

import operator
import os
from typing import NamedTuple

from . import _gpusort

os.register_at_fork(after_in_child=_gpusort.after_fork)

_kept: dict[str | int, _gpusort.Device] = {}


class Device(NamedTuple):
    """A GPU that can sort."""

    number: int
    """The number for ``device=``."""
    name: str
    backend: str
    """``vulkan``, ``metal`` or ``dx12``."""
    kind: str
    """``discrete``, ``integrated``, ``virtual`` or ``software``."""
    driver: str


def devices() -> list[Device]:
    """Returns the GPUs that can sort, in the order of their numbers."""
    return [Device(number, *known) for number, known in enumerate(_gpusort.devices())]


class KeptDevice:
    """Holds a device; the base of :class:`gpusort.Sorter`."""

    def __init__(self, device: _gpusort.Device) -> None:
        self.device = device


def device_of(device: str | int | KeptDevice | None) -> _gpusort.Device | None:
    """Returns the device for a ``device=`` argument; None for "auto".  A process starts each GPU once.

    Raises TypeError for other types, and ValueError for an empty name or a negative number.
    """
    if device == "auto" or device is None:
        return None
    if isinstance(device, KeptDevice):
        return device.device
    if isinstance(device, str):
        name = device.lower() if device.lower() in ("cpu", "gpu") else device
        if not name:
            raise ValueError('device is a name or a number; "" is neither')
        if name not in _kept:
            _kept[name] = _gpusort.Device(name, None)
        return _kept[name]
    if isinstance(device, bool) or not hasattr(device, "__index__"):
        raise TypeError(f"device is a name, a number or a Sorter, not {type(device).__name__}")
    number = operator.index(device)
    if number < 0:
        raise ValueError(f"device is a number from 0, not {number}")
    if number not in _kept:
        _kept[number] = _gpusort.Device("", number)
    return _kept[number]

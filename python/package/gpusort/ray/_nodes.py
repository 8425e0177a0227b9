"""The nodes of a cluster: each node stores the runs of its tasks, and serves them to other nodes."""

# pyright: basic

from __future__ import annotations

import contextlib
import glob
import hmac
import os
import secrets
import shutil
import socketserver
import tempfile
import threading
import time
from collections.abc import Iterable
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

#: The prefix of names of folders with runs.
PREFIX = "gpusort-ray-"


def locked(folder: str) -> Any:
    """Locks a folder for the life of this process; returns None if another process holds the lock."""
    import fcntl

    file = open(os.path.join(folder, ".lock"), "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def swept(folder: str) -> None:
    """Removes the folders of killed sorts."""
    for old in glob.glob(os.path.join(glob.escape(folder), f"{PREFIX}*")):
        with contextlib.suppress(OSError):
            # A new folder is not yet locked.
            if time.time() - os.path.getmtime(old) > 60 and (lock := locked(old)):
                shutil.rmtree(old, ignore_errors=True)
                lock.close()


class Requests(socketserver.StreamRequestHandler):
    """Serves ranges of runs to clients that know the secret word."""

    def handle(self) -> None:
        server: Any = self.server
        path, offset, length = self.rfile.readline(4096).decode().split(" ")
        word, _, name = path.partition("/")
        if hmac.compare_digest(word, server.word) and "/" not in name:
            with open(os.path.join(server.folder, name), "rb") as file:
                self.connection.sendfile(file, int(offset), int(length))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024


@ray.remote(num_cpus=0)
class Node:
    """Stores the runs of a node, and serves them to other nodes."""

    def open(self, folder: str | None) -> tuple[str, str, str]:
        """Creates a folder in ``folder``; returns its path, the address of the server, and the secret word."""
        self.folder = tempfile.mkdtemp(prefix=PREFIX, dir=folder)
        self.lock = locked(self.folder)
        swept(os.path.dirname(self.folder))
        ip = ray.util.get_node_ip_address()
        self.server: Any = Server((ip, 0), Requests)
        self.server.word, self.server.folder = secrets.token_hex(16), self.folder
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        host, port = self.server.server_address[:2]
        return self.folder, f"{host}:{port}", self.server.word

    def close(self) -> None:
        self.server.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)


def got(reference: Any) -> Any:
    """Returns a result; raises an exception of the task in its original type."""
    try:
        return ray.get(reference)
    except RayTaskError as error:
        raise error.cause if isinstance(error.cause, (ValueError, TypeError, OSError, MemoryError)) else error from None


class Nodes:
    """The live nodes, each with the actor that stores its runs."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.actors: dict[str, Any] = {}
        self.opening: dict[str, Any] = {}
        self.where: dict[str, tuple[str, str, str]] = {}
        self.begin()

    def begin(self) -> None:
        """Starts an actor on each node without one. This takes a second; other work may continue."""
        # A node without cores runs no tasks.
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")}
        for gone in self.actors.keys() - alive:
            del self.actors[gone]
            self.where.pop(gone, None)
            self.opening.pop(gone, None)
        for new in alive - self.actors.keys():
            strategy = NodeAffinitySchedulingStrategy(new, soft=False)
            self.actors[new] = Node.options(scheduling_strategy=strategy).remote()
            self.opening[new] = self.actors[new].open.remote(self.folder)

    def refresh(self, lost: Iterable[str] = ()) -> None:
        """Waits for started actors, and replaces the actors of lost nodes."""
        for node in self.actors.keys() & set(lost):
            with contextlib.suppress(Exception):
                ray.kill(self.actors[node])
            del self.actors[node]
            self.where.pop(node, None)
        self.begin()
        while self.opening:
            node, opening = self.opening.popitem()
            try:
                self.where[node] = got(opening)
            except RayActorError:
                # The actor or its node failed; the next refresh finds out which.
                del self.actors[node]

    def close(self) -> None:
        closing = [actor.close.remote() for actor in self.actors.values()]
        with contextlib.suppress(Exception):
            ray.wait(closing, num_returns=len(closing), timeout=30)
        for actor in self.actors.values():
            ray.kill(actor)

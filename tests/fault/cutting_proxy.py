"""Between a service and its PostgreSQL: passes everything on, and cuts a connection in the middle of what it is told to."""

import re
import socket
import threading
import time

PIECE = 1 << 16
INSERT, COMMIT = b"insert into frames", b"commit"


class Session:
    """The statements of one connection: each comes by its text, or by the name under which it was prepared."""

    def __init__(self):
        self.names = {INSERT: set(), COMMIT: set()}

    def find(self, word, piece):
        """The place of the statement in the piece; -1: it is not there."""
        self.names[word] |= set(re.findall(rb"(\w+)\0\s*" + word, piece))
        places = [piece.find(word), *(piece.find(b"\0" + name + b"\0") for name in self.names[word])]
        return min((at for at in places if at >= 0), default=-1)


class CuttingProxy:
    """A unix socket in `folder` in front of the one in `behind`. A cut takes the next insert of frames, or the commit that follows
    one: some of its bytes are passed on, or all of them and the answer is kept back. Which, the dice say."""

    NAME = ".s.PGSQL.5432"

    def __init__(self, folder, behind, dice):
        self.behind, self.dice = str(behind / self.NAME), dice
        self.wanted = None  # INSERT or COMMIT; taken by the first connection that meets it
        self.cuts = []  # (what, bytes passed on, bytes there were)
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / self.NAME))
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.behind)
            except OSError:
                return
            for run in (self._pass_queries, self._pass_answers):
                threading.Thread(target=run, args=(client, server), daemon=True).start()

    def _take(self, piece, places, has_inserted):
        """The place at which this piece is to be cut; None: pass it on."""
        with self.lock:
            begin = places.get(self.wanted, -1)
            if begin < 0 or (self.wanted == COMMIT and not has_inserted):
                return None
            at = len(piece) if self.dice.random() < 0.4 else self.dice.randrange(begin, len(piece))
            self.cuts.append((self.wanted.decode(), at, len(piece)))
            self.wanted = None
            return at

    def _pass_queries(self, client, server):
        session, has_inserted = Session(), False
        try:
            while piece := client.recv(PIECE):
                places = {word: session.find(word, piece) for word in (INSERT, COMMIT)}
                has_inserted = has_inserted or places[INSERT] >= 0
                at = self._take(piece, places, has_inserted)
                has_inserted = has_inserted and places[COMMIT] < 0
                server.sendall(piece if at is None else piece[:at])
                if at is not None:
                    client.shutdown(socket.SHUT_RDWR)  # nothing of an answer gets through from here on
                    time.sleep(self.dice.choice((0, 0.02)))  # PostgreSQL is through with it, or not
                    break
        except OSError:
            pass
        self._close(client, server)

    def _pass_answers(self, client, server):
        try:
            while piece := server.recv(PIECE):
                client.sendall(piece)
        except OSError:
            pass
        self._close(client, server)

    @staticmethod
    def _close(*sockets):
        for each in sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

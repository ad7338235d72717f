"""Between a service and its PostgreSQL: passes everything on, and cuts a connection in the middle of what it is told to."""

import socket
import threading
import time

PIECE = 1 << 16
INSERT, COMMIT = b"insert into frames", b"commit"


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

    def _take(self, piece, has_inserted):
        """Where to cut this piece; None: pass it on."""
        with self.lock:
            word = self.wanted
            if word is None or word not in piece or (word == COMMIT and not has_inserted):
                return None
            self.wanted = None
            begin = piece.index(word)
            at = len(piece) if self.dice.random() < 0.4 else self.dice.randrange(begin, len(piece))
            self.cuts.append((word.decode(), at, len(piece)))
            return at

    def _pass_queries(self, client, server):
        has_inserted = False
        try:
            while piece := client.recv(PIECE):
                at = self._take(piece, has_inserted)
                has_inserted = INSERT in piece or (has_inserted and b"begin" not in piece)
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

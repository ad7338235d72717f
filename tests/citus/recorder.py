"""A way to PostgreSQL that remembers the statements which go over it, with the types of their parameters."""

import socket
import struct
import threading
from urllib.parse import urlsplit, urlunsplit


class Recorder:
    """Listens on loopback and passes everything on to the address. TLS is switched off on the way."""

    def __init__(self, url):
        parts = urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
        name, _, port = host.rpartition(":")
        self.target = (name, int(port))
        self.statements = set()  # (text, types of its parameters by number)
        self.listener = socket.create_server(("127.0.0.1", 0))
        netloc = f"{user}@127.0.0.1:{self.listener.getsockname()[1]}"
        self.url = urlunsplit(parts._replace(netloc=netloc, query="sslmode=disable&gssencmode=disable"))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.target)
            except OSError:
                return
            for source, sink, heard in ((client, server, self._hear), (server, client, None)):
                threading.Thread(target=self._pass_on, args=(source, sink, heard), daemon=True).start()

    @staticmethod
    def _pass_on(source, sink, heard):
        messages = bytearray()
        begun = False
        try:
            while piece := source.recv(1 << 16):
                sink.sendall(piece)
                if heard:
                    messages += piece
                    begun = heard(messages, begun)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _hear(self, messages, begun):
        """Takes the whole messages from the front; the first has no letter. True from then on."""
        while len(messages) >= 5:
            letter = 0 if begun else 1
            (length,) = struct.unpack_from(">I", messages, 1 - letter)
            whole = length + 1 - letter
            if len(messages) < whole:
                break
            if begun and messages[:1] == b"P":
                self._remember(bytes(messages[5:whole]))
            del messages[:whole]
            begun = True
        return begun

    def _remember(self, body):
        _, text, rest = body.split(b"\0", 2)
        (count,) = struct.unpack_from(">H", rest)
        self.statements.add((text.decode(), struct.unpack_from(f">{count}I", rest, 2)))

#!/usr/bin/env python3
"""An echo server of asyncio, and two clients of it in threads of their own.

    poet record -o echo.poet python3 -m poet echo.py
    poet view echo.poet
"""
import asyncio
import socket
import threading

ready = threading.Event()


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
    writer.close()


async def main():
    global port
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    ready.set()
    await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in clients))
    server.close()


def client(name):
    ready.wait()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for word in "hello", "bye":
            connection.sendall(f"{word} from {name}\n".encode())
            print(connection.recv(100).decode(), end="")


clients = [threading.Thread(target=client, args=(name,), name=name) for name in ("one", "two")]
for thread in clients:
    thread.start()
asyncio.run(main())

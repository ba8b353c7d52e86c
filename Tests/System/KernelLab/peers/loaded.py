"""Runs Bumble programs without the ten seconds that loading Bumble takes under emulation.

    loaded.py serve SOCKET                  loads Bumble once, then runs each program in a fork
    loaded.py run SOCKET SCRIPT ARGUMENT... runs SCRIPT in the server, and ends with its status

The program has the caller's folder, environment and standard streams. It is killed when its caller
ends.
"""

import json
import os
import select
import signal
import socket
import sys

REQUEST_MAXIMUM = 1 << 17
STREAMS = 3


def serve(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path + '.new')
    listener.listen()
    os.rename(path + '.new', path)
    import bumble.device, bumble.transport, bumble.transport.hci_socket  # noqa: E401, F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        caller, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            attend(caller)
        caller.close()


def attend(caller):
    """Runs one program, and waits for its end or for the end of its caller."""
    request, streams, _, _ = socket.recv_fds(caller, REQUEST_MAXIMUM, STREAMS)
    child = os.fork()
    if child == 0:
        caller.close()
        become(json.loads(request), streams)
    end = os.pidfd_open(child)
    ready, _, _ = select.select([end, caller], [], [])
    if end not in ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if end in ready:
        caller.send(str(status).encode())
    os._exit(0)


def become(request, streams):
    """Runs the program in this forked process, with the folder, environment and streams of its caller."""
    import runpy

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request['folder'])
    os.environ.clear()
    os.environ.update(request['environment'])
    sys.argv = request['words']
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name='__main__')
    sys.exit(0)


def run(path, words):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(path)
    request = {'folder': os.getcwd(), 'environment': dict(os.environ), 'words': words}
    socket.send_fds(server, [json.dumps(request).encode()], range(STREAMS))
    answer = server.recv(16)
    if not answer:
        sys.exit('the server with Bumble loaded has ended; see /run/lab-bumble.log')
    status = int(answer)
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == '__main__':
    if sys.argv[1] == 'serve':
        serve(sys.argv[2])
    else:
        run(sys.argv[2], sys.argv[3:])

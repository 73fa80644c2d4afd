"""Locks this process in, then becomes another program: `jail.py FOLDER PARENT MEMORY READABLE… -- PROGRAM ARGUMENT…`

What the program can do from then on, and all that it starts: read and write below FOLDER; read the system's libraries, fonts
and the READABLE paths; open UNIX sockets and no others. It dies with PARENT (a pid), and may hold MEMORY bytes of address
space (0: any number). A kernel without one of the means is no obstacle; what is missing is said on stderr.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)

# prctl(2)
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 1, 38, 22, 2

# landlock(7): the rights on files by the version of its interface that brought them
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
RIGHTS_SINCE = {1: (1 << 13) - 1, 2: REFER, 3: TRUNCATE, 5: IOCTL_DEV}
NET_BIND_AND_CONNECT_TCP = 3  # since version 4
SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3  # since version 6

READ = EXECUTE | READ_FILE | READ_DIR
WRITE = READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | REFER | TRUNCATE
ON_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

# What LibreOffice, fontconfig and the C library read. Of /proc and of any home nothing.
READABLE = [
    "/usr", "/lib", "/lib64", "/etc/fonts", "/etc/libreoffice", "/etc/ld.so.cache", "/etc/passwd", "/etc/nsswitch.conf",
    "/etc/locale.alias", "/etc/localtime", "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice",
    "/dev/urandom",
]  # fmt: skip
# LibreOffice puts its pipes here, whatever the environment says.
PIPES = ["/tmp", "/var/tmp"]

# System calls by architecture: AUDIT_ARCH, then the numbers of socket and io_uring_setup (whose ring could open sockets, too).
SYSTEM_CALLS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
X32_BIT = 0x40000000
AF_UNIX = 1


def main(arguments: list[str]) -> None:
    split = arguments.index("--")
    folder, parent, memory, *readable = arguments[:split]
    command = arguments[split + 1 :]
    die_with(int(parent))
    limit_resources(int(memory))
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for lock, what in ((lambda: lock_files(folder, readable), "landlock"), (lock_sockets, "seccomp")):
        try:
            lock()
        except OSError as error:
            print(f"jail: no {what}: {error}", file=sys.stderr, flush=True)
    os.execv(command[0], command)


def die_with(parent: int) -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it had died before we asked
        os._exit(1)


def limit_resources(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory > 0:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def lock_files(folder: str, readable: list[str]) -> None:
    version = call(444, None, 0, 1)
    handled = sum(rights for since, rights in RIGHTS_SINCE.items() if since <= version)
    network = NET_BIND_AND_CONNECT_TCP if version >= 4 else 0
    scope = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    # Older kernels take the longer structure as long as what they don't know is zero.
    attributes = struct.pack("QQQ", handled, network, scope)
    ruleset = call(444, attributes, len(attributes), 0)
    allow(ruleset, folder, WRITE & handled)
    allow(ruleset, "/dev/null", (READ_FILE | WRITE_FILE) & handled)
    for path in READABLE + readable:
        allow(ruleset, path, READ & handled)
    for path in PIPES:
        allow(ruleset, path, MAKE_SOCK)
    call(446, ruleset, 0)
    os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= ON_A_FILE
    call(445, ruleset, 1, struct.pack("=Qi", rights, beneath), 0)
    os.close(beneath)


def lock_sockets() -> None:
    """socket() gives EAFNOSUPPORT but for UNIX ones, as where the kernel has no network; nothing dies of it."""
    if platform.machine() not in SYSTEM_CALLS:
        raise OSError(f"no filter for {platform.machine()}")
    architecture, socket, io_uring_setup = SYSTEM_CALLS[platform.machine()]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    allowed, eperm, eafnosupport = 0x7FFF0000, 0x00050001, 0x00050061
    number, arch, first_argument = 0, 4, 16
    program = [
        (load, 0, 0, arch),
        (equal, 1, 0, architecture),
        (give, 0, 0, eperm),
        (load, 0, 0, number),
        (at_least, 0, 1, X32_BIT),
        (give, 0, 0, eperm),
        (equal, 0, 1, io_uring_setup),
        (give, 0, 0, eperm),
        (equal, 1, 0, socket),
        (give, 0, 0, allowed),
        (load, 0, 0, first_argument),
        (equal, 0, 1, AF_UNIX),
        (give, 0, 0, allowed),
        (give, 0, 0, eafnosupport),
    ]
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    header = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(instructions))
    if LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) != 0:
        raise os_error()


def call(number: int, *arguments: object) -> int:
    wide = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        raise os_error()
    return result


def os_error() -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))


main(sys.argv[1:])

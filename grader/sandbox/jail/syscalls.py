"""Which system calls the box allows, and their numbers.

Each entry is `name=x86_64/aarch64`, a dash where the architecture has no such call; the numbers are those of the
kernel's unistd headers. Everything not listed answers ENOSYS, which libc takes as "older kernel" and works around.

Not listed on purpose: what tells which pages of a file others have read, or drops them (mincore, cachestat, preadv2
with its RWF_NOWAIT, fadvise64). Files of the installation are shared by all boxes, so by their pages one check's code
could leave a note for another's. Nor statx, for which libc has another way: it alone tells when a file was made, and
so for how long there have been boxes.
"""

from __future__ import annotations

# What Python, numpy and torch need to compute, and to read and write the files Landlock lets them.
ALLOWED = """
    read=0/63 write=1/64 pread64=17/67 pwrite64=18/68 readv=19/65 writev=20/66 lseek=8/62 close=3/57
    fstat=5/80 newfstatat=262/79 stat=4/- lstat=6/- futex=202/98 mmap=9/222 munmap=11/215
    mprotect=10/226 mremap=25/216 brk=12/214 open=2/- openat=257/56 openat2=437/437
    getrandom=318/278 clock_gettime=228/113 clock_getres=229/114 clock_nanosleep=230/115
    gettimeofday=96/169 time=201/- nanosleep=35/101 access=21/- faccessat=269/48 faccessat2=439/439
    readlink=89/- readlinkat=267/78 getcwd=79/17 chdir=80/49 fchdir=81/50 getdents=78/-
    getdents64=217/61 statfs=137/43 fstatfs=138/44 creat=85/- mkdir=83/- mkdirat=258/34 rmdir=84/-
    unlink=87/- unlinkat=263/35 rename=82/- renameat=264/38 renameat2=316/276 link=86/- linkat=265/37
    symlink=88/- symlinkat=266/36 ftruncate=77/46 fallocate=285/47 fsync=74/82 fdatasync=75/83
    flock=73/32 copy_file_range=326/285 sendfile=40/71 umask=95/166 dup=32/23
    dup2=33/- dup3=292/24 pipe=22/- pipe2=293/59 poll=7/- ppoll=271/73 select=23/- pselect6=270/72
    epoll_create=213/- epoll_create1=291/20 epoll_ctl=233/21 epoll_wait=232/- epoll_pwait=281/22
    eventfd=284/- eventfd2=290/19 timerfd_create=283/85 timerfd_settime=286/86 timerfd_gettime=287/87
    rt_sigaction=13/134 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigpending=127/136
    rt_sigsuspend=130/133 rt_sigtimedwait=128/137 sigaltstack=131/132 pause=34/- alarm=37/-
    getitimer=36/102 setitimer=38/103 timer_create=222/107 timer_settime=223/110 timer_gettime=224/108
    timer_getoverrun=225/109 timer_delete=226/111 restart_syscall=219/128 getpid=39/172 gettid=186/178
    getppid=110/173 getpgrp=111/- getpgid=121/155 getsid=124/156 getuid=102/174 geteuid=107/175
    getgid=104/176 getegid=108/177 getresuid=118/148 getresgid=120/150 getgroups=115/158
    getpriority=140/141 sched_yield=24/124 sched_getaffinity=204/123 sched_getparam=143/121
    sched_getscheduler=145/120 sched_get_priority_max=146/125 sched_get_priority_min=147/126
    sched_rr_get_interval=148/127 getrlimit=97/163 getrusage=98/165 times=100/153 sysinfo=99/179
    uname=63/160 getcpu=309/168 set_tid_address=218/96 set_robust_list=273/99 get_robust_list=274/100
    rseq=334/293 membarrier=324/283 arch_prctl=158/- msync=26/227 exit=60/93 exit_group=231/94
    close_range=436/436 preadv=295/69 pwritev=296/70
"""

# What reading a file takes whose bytes are at hand already: memory, and the two pipes that are open. Nothing is opened.
READING = """
    read=0/63 write=1/64 close=3/57 mmap=9/222 munmap=11/215 mprotect=10/226 mremap=25/216 brk=12/214 futex=202/98
    getrandom=318/278 clock_gettime=228/113 gettimeofday=96/169 time=201/- rt_sigaction=13/134 rt_sigprocmask=14/135
    rt_sigreturn=15/139 getpid=39/172 gettid=186/178 sched_yield=24/124 exit=60/93 exit_group=231/94
"""

# Allowed for some arguments only; `seccomp.py` holds the conditions.
CONDITIONAL = """
    clone=56/220 clone3=435/435 kill=62/129 tgkill=234/131 prctl=157/167 ioctl=16/29 fcntl=72/25
    prlimit64=302/261 madvise=28/233
"""

# Refused with EPERM, so that Python raises PermissionError ("not permitted") where a student might meet them.
REFUSED = """
    socket=41/198 socketpair=53/199 connect=42/203 bind=49/200 listen=50/201 accept=43/202
    accept4=288/242 fork=57/- vfork=58/- execve=59/221 execveat=322/281 tkill=200/130 ptrace=101/117
    process_vm_readv=310/270 process_vm_writev=311/271 setsid=112/157 setpgid=109/154 mount=165/40
    umount2=166/39 unshare=272/97 setns=308/268 sched_setaffinity=203/122 setpriority=141/140
    shmget=29/194 msgget=68/186 semget=64/190 truncate=76/45 memfd_create=319/279 mincore=27/232
"""

# Landlock does not guard owners, modes and times. Nothing in the box needs them, but `shutil.copy` sets them:
# the call answers "done" and does nothing. So does advice about the pages of files; and no file has attributes.
PRETENDED = """
    chmod=90/- fchmod=91/52 fchmodat=268/53 fchmodat2=452/452 chown=92/- fchown=93/55 lchown=94/-
    fchownat=260/54 utime=132/- utimes=235/- utimensat=280/88 futimesat=261/- setxattr=188/5
    lsetxattr=189/6 fsetxattr=190/7 listxattr=194/11 llistxattr=195/12
    flistxattr=196/13 fadvise64=221/223
"""


def numbers(table: str, machine: str) -> dict[str, int]:
    """The calls of one table that this machine has, by name."""
    column = {"x86_64": 0, "aarch64": 1}[machine]
    found = {}
    for entry in table.split():
        name, _, both = entry.partition("=")
        number = both.split("/")[column]
        if number != "-":
            found[name] = int(number)
    return found

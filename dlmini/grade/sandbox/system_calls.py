"""Numbers of the system calls that a filter speaks of: name:number on x86-64:number on arm64.

From the kernel's headers, asm/unistd_64.h and asm-generic/unistd.h. Where arm64 has none, the newer call of the same
kind (openat for open) is in the list, too.
"""

from __future__ import annotations

import platform

NETWORK = """
    socket:41:198 bind:49:200 connect:42:203 listen:50:201 accept:43:202 accept4:288:242
"""
SHARED = """
    shmget:29:194 shmat:30:196 shmctl:31:195 semget:64:190 semop:65:193 semtimedop:220:192 semctl:66:191
    msgget:68:186 msgsnd:69:189 msgrcv:70:188 msgctl:71:187 mq_open:240:180 mq_unlink:241:181 memfd_create:319:279
    memfd_secret:447:447 add_key:248:217 request_key:249:218 keyctl:250:219 flock:73:32 inotify_init:253:
    inotify_init1:294:26 inotify_add_watch:254:27
"""
CACHE = """
    fadvise64:221:223 readahead:187:213 mincore:27:232 cachestat:451:451 io_setup:206:0 io_submit:209:2
"""
OTHERS = """
    ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 kcmp:312:272 pidfd_getfd:438:438
    pidfd_send_signal:424:424 tkill:200:130 rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240
    process_madvise:440:440 process_mrelease:448:448 pidfd_open:434:434 migrate_pages:256:238 move_pages:279:239
    ioprio_set:251:30
"""
SYSTEM = """
    mount:165:40 umount2:166:39 pivot_root:155:41 chroot:161:51 fsopen:430:430 fsmount:432:432 fsconfig:431:431
    fspick:433:433 move_mount:429:429 open_tree:428:428 mount_setattr:442:442 statmount:457:457 listmount:458:458
    swapon:167:224 swapoff:168:225 reboot:169:142 init_module:175:105 finit_module:313:273 delete_module:176:106
    kexec_load:246:104 kexec_file_load:320:294 bpf:321:280 perf_event_open:298:241 userfaultfd:323:282
    io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 fanotify_init:300:262
    name_to_handle_at:303:264 open_by_handle_at:304:265 quotactl:179:60 quotactl_fd:443:443 acct:163:89
    settimeofday:164:170 clock_settime:227:112 clock_adjtime:305:266 adjtimex:159:171 sethostname:170:161
    setdomainname:171:162 syslog:103:116 vhangup:153:58 personality:135:92 unshare:272:97 setns:308:268 iopl:172:
    ioperm:173: sync:162:81 syncfs:306:267
"""
UNREADABLE = """
    clone3:435:435 openat2:437:437 preadv2:327:286 pwritev2:328:287
"""
LOOKED_AT = """
    kill:62:129 tgkill:234:131 prlimit64:302:261 sched_setaffinity:203:122 sched_setscheduler:144:119
    sched_setparam:142:118 sched_setattr:314:274 setpriority:141:140 fcntl:72:25 ioctl:16:29 clone:56:220 open:2:
    openat:257:56 socketpair:53:199 madvise:28:233
"""
WRITING = """
    creat:85: mkdir:83: mkdirat:258:34 mknod:133: mknodat:259:33 rmdir:84: unlink:87: unlinkat:263:35 rename:82:
    renameat:264:38 renameat2:316:276 link:86: linkat:265:37 symlink:88: symlinkat:266:36
"""
CHANGING = """
    chmod:90: fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92: fchown:93:55 lchown:94: fchownat:260:54
    truncate:76:45 utime:132: utimes:235: futimesat:261: utimensat:280:88 setxattr:188:5 lsetxattr:189:6
    fsetxattr:190:7 removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16
"""
NEWEST = 462  # mseal, of Linux 6.10: what came later is not weighed here yet
COLUMNS = {"x86_64": 1, "amd64": 1, "aarch64": 2, "arm64": 2}
AUDIT = {1: 0xC000003E, 2: 0xC00000B7}  # AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64: as what a filter sees the machine


def numbers(*tables: str) -> dict[str, int]:
    """{name: number} of these tables on this machine; empty on a machine that is not in them."""
    column = COLUMNS.get(platform.machine().lower())
    rows = (word.split(":") for table in tables for word in table.split())
    return {row[0]: int(row[column]) for row in rows if row[column]} if column else {}


def architecture() -> int:
    return AUDIT.get(COLUMNS.get(platform.machine().lower()), 0)

/// Numbers of Linux's system calls (asm/unistd.h), which are others on each architecture.
enum SystemCallNumber {
  #if arch(x86_64)
    static let architecture: UInt32? = 0xC000_003E
    static let seccomp = 317
    static let closeRange = 436
    static let read: UInt32 = 0, close: UInt32 = 3, fstat: UInt32 = 5, lseek: UInt32 = 8, pread: UInt32 = 17
    static let mmap: UInt32 = 9, mprotect: UInt32 = 10, munmap: UInt32 = 11, brk: UInt32 = 12, mremap: UInt32 = 25
    static let madvise: UInt32 = 28, futex: UInt32 = 202, fcntl: UInt32 = 72
    static let sendto: UInt32 = 44, recvfrom: UInt32 = 45
    static let openat: UInt32 = 257, newfstatat: UInt32 = 262, prctl: UInt32 = 157, tgkill: UInt32 = 234
    /// open.
    static let opening: [UInt32] = [2]
    /// access, stat, lstat, readlink, getcwd, faccessat, readlinkat, faccessat2, statx.
    static let looking: [UInt32] = [21, 4, 6, 89, 79, 269, 267, 439, 332]
    /// getpid, getuid, getgid, geteuid, getegid, getppid, gettid, time, gettimeofday, clock_gettime, clock_getres,
    /// nanosleep, clock_nanosleep, sched_yield, sched_getaffinity, getrandom, restart_syscall, rt_sigaction,
    /// rt_sigprocmask, rt_sigreturn, sigaltstack, exit, exit_group.
    static let harmless: [UInt32] = [
      39, 102, 104, 107, 108, 110, 186, 201, 96, 228, 229, 35, 230, 24, 204, 318, 219, 13, 14, 15, 131, 60, 231,
    ]
    /// clone, fork, vfork, execve, execveat, clone3, socket, connect, ptrace, process_vm_readv, process_vm_writev,
    /// kill, io_uring_setup, userfaultfd, bpf.
    static let hostile: [UInt32] = [56, 57, 58, 59, 322, 435, 41, 42, 101, 310, 311, 62, 425, 323, 321]
  #elseif arch(arm64)
    static let architecture: UInt32? = 0xC000_00B7
    static let seccomp = 277
    static let closeRange = 436
    static let read: UInt32 = 63, close: UInt32 = 57, fstat: UInt32 = 80, lseek: UInt32 = 62, pread: UInt32 = 67
    static let mmap: UInt32 = 222, mprotect: UInt32 = 226, munmap: UInt32 = 215, brk: UInt32 = 214, mremap: UInt32 = 216
    static let madvise: UInt32 = 233, futex: UInt32 = 98, fcntl: UInt32 = 25
    static let sendto: UInt32 = 206, recvfrom: UInt32 = 207
    static let openat: UInt32 = 56, newfstatat: UInt32 = 79, prctl: UInt32 = 167, tgkill: UInt32 = 131
    static let opening: [UInt32] = []
    /// getcwd, faccessat, readlinkat, faccessat2, statx.
    static let looking: [UInt32] = [17, 48, 78, 439, 291]
    /// As above, but for time, which AArch64 has not.
    static let harmless: [UInt32] = [
      172, 174, 176, 175, 177, 173, 178, 169, 113, 114, 101, 115, 124, 123, 278, 128, 134, 135, 139, 132, 93, 94,
    ]
    /// clone, execve, execveat, clone3, socket, connect, ptrace, process_vm_readv, process_vm_writev, kill,
    /// io_uring_setup, userfaultfd, bpf.
    static let hostile: [UInt32] = [220, 221, 281, 435, 198, 203, 117, 270, 271, 129, 425, 282, 280]
  #else
    static let architecture: UInt32? = nil
    static let seccomp = -1
    static let closeRange = -1
    static let read: UInt32 = 0, close: UInt32 = 0, fstat: UInt32 = 0, lseek: UInt32 = 0, pread: UInt32 = 0
    static let mmap: UInt32 = 0, mprotect: UInt32 = 0, munmap: UInt32 = 0, brk: UInt32 = 0, mremap: UInt32 = 0
    static let madvise: UInt32 = 0, futex: UInt32 = 0, fcntl: UInt32 = 0
    static let sendto: UInt32 = 0, recvfrom: UInt32 = 0
    static let openat: UInt32 = 0, newfstatat: UInt32 = 0, prctl: UInt32 = 0, tgkill: UInt32 = 0
    static let opening: [UInt32] = [], looking: [UInt32] = [], harmless: [UInt32] = [], hostile: [UInt32] = []
  #endif
}

import Glibc
import KCSandbox

// Tries what a hostile file would make a reader do, inside the sandbox; the tests run it. Arguments: what it tries; a
// folder that it may read, or "none"; a descriptor that it keeps.

@_silgen_name("syscall") func systemCall(_ number: Int, _ first: Int, _ second: Int, _ third: Int) -> Int
@_silgen_name("fork") func copyProcess() -> pid_t

#if arch(x86_64)
    let (traceCall, threadSignalCall, handlerCall) = (101, 234, 13)
#else
    let (traceCall, threadSignalCall, handlerCall) = (117, 131, 134)
#endif

func say(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(1, bytes, bytes.count)
}

/// Says what came of a call that was not stopped.
func end(_ result: Int) -> Never {
    say(result >= 0 ? "done\n" : "failed \(errno)\n")
    exit(0)
}

// A thread; a closure would belong to the main thread, which Swift checks.
func wait(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    while true { pause() }
}

func read(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(descriptor, &bytes, bytes.count)
    return count < 0 ? "failed \(errno)\n" : String(decoding: bytes.prefix(count), as: UTF8.self)
}

let arguments = CommandLine.arguments
guard arguments.count > 2 else { exit(64) }
let folder = arguments[2] == "none" ? nil : open(arguments[2], O_RDONLY | O_DIRECTORY)
let parent = getppid()
let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
if arguments[1] == "severalThreads" {
    var thread = pthread_t()
    pthread_create(&thread, nil, wait, nil)
}
do throws(SandboxFailure) {
    try Sandbox.enter(
        addressSpace: 1 << 30, reading: folder, keeping: arguments.dropFirst(3).compactMap { Int32($0) })
} catch {
    say("outside: \(error.reason)\n")
    exit(1)
}

switch arguments[1] {
case "nothing", "severalThreads": break
case "openFile": end(Int(open("/etc/passwd", O_RDONLY)))
case "openOther": end(Int(openat(folder ?? -1, "../other", O_RDONLY)))
// O_PATH, which is declared for GNU sources.
case "openPath": end(Int(openat(folder ?? -1, "file", 0o10_000_000)))
case "writeFile": end(Int(openat(folder ?? -1, "file", O_WRONLY)))
case "makeFile": end(Int(openat(folder ?? -1, "new", O_RDONLY | O_CREAT, 0o600)))
case "readFile":
    guard let directory = fdopendir(openat(folder ?? -1, ".", O_RDONLY | O_DIRECTORY)) else { end(-1) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    say("\(count) names\n" + read(openat(folder ?? -1, "below/file", O_RDONLY)))
case "socket":
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    end(Int(status))
case "fork": end(Int(copyProcess()))
case "execute": end(Int(execv("/bin/true", [strdup("true"), nil])))
case "thread":
    var thread = pthread_t()
    end(Int(-pthread_create(&thread, nil, wait, nil)))
case "trace": end(systemCall(traceCall, 16, Int(parent), 0))
case "kill": end(Int(kill(parent, SIGKILL)))
case "killThread": end(systemCall(threadSignalCall, Int(parent), Int(parent), Int(SIGKILL)))
case "executable": end(Int(mprotect(page, 4096, PROT_READ | PROT_EXEC)))
case "shared": end(mmap(nil, 4096, PROT_READ, MAP_SHARED, 0, 0) == MAP_FAILED ? -1 : 0)
case "terminal": end(Int(isatty(1)) - 1)
case "unknown": end(systemCall(0x3fff_ffff, 0, 0, 0))
case "x32": end(systemCall(0x4000_0000 + 39, 0, 0, 0))
case "handler":
    signal(SIGUSR1, SIG_IGN)
    signal(SIGSYS, SIG_IGN)
    end(Int(kill(parent, SIGKILL)))
case "handlerOfLong": end(systemCall(handlerCall, (1 << 32) + Int(SIGSYS), 0, 0))
case "inherited": end(write(3, "word", 4))
case "allocate":
    // Not with malloc, which the compiler would leave out.
    end(mmap(nil, 2 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0)
case "crash": abort()
case "work":
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0, time(nil) > 0 else { end(-1) }
    var words: [String: Int] = [:]
    for number in 0..<100_000 { words["word \(number)", default: 0] += 1 }
    let bytes = [UInt8](repeating: 1, count: 50 << 20)
    print(words.count, bytes.count >> 20, read(0), separator: " ", terminator: "")
default: exit(64)
}

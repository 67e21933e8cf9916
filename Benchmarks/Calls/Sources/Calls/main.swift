import Foundation
import Security

// Times the calls on a new default keychain in the folder XDG_DATA_HOME, beside bare SQLite on a copy of it.
//
//   Calls COUNT                                     adds COUNT items, then finds, changes and deletes 1,000 of them, and
//                                                   says which goals hold
//   Calls clients PROCESSES THREADS ROUNDS          what the calls of so many processes with so many threads take
//   Calls worker KIND FOLDER NUMBER THREADS ROUNDS  one of these processes

let arguments = CommandLine.arguments
if arguments.count == 7, arguments[1] == "worker", let number = Int(arguments[4]), let threads = Int(arguments[5]),
    let rounds = Int(arguments[6])
{
    Worker(isBare: arguments[2] == "bare", folder: arguments[3], number: number, threads: threads, rounds: rounds).run()
    exit(0)
}
guard let folder = ProcessInfo.processInfo.environment["XDG_DATA_HOME"] else {
    print("set XDG_DATA_HOME to an empty folder")
    exit(64)
}
do {
    try KeychainClient.createDefaultKeychain(passcode: nil)
    try FileManager.default.copyItem(
        atPath: folder + "/kcbackup/keychains/login.keychain", toPath: folder + "/kcbackup/keychains/bare.db")
} catch {
    print("the keychain cannot be made: \(error)")
    exit(1)
}

func show(_ name: String, _ figures: Figures, _ bare: Figures? = nil) {
    let words = [figures, bare].compactMap { $0 }.map { "\(Int(1_000_000 / $0.mean))/s (\($0.words))" }
    print("\(name)\t\(figures.count) calls\t" + words.joined(separator: "\tbare SQLite "))
}

if arguments.count == 5, arguments[1] == "clients", let processes = Int(arguments[2]), let threads = Int(arguments[3]),
    let rounds = Int(arguments[4])
{
    for isBare in [false, true] {
        let result = Worker.runAll(
            isBare: isBare, folder: folder, processes: processes, threads: threads, rounds: rounds)
        print(isBare ? "bare SQLite" : "keychain")
        print("  reads\t\(result.reads.words)")
        print("  adds\t\(result.adds.words), \(Int(result.addsPerSecond)) a second")
    }
    exit(0)
}

let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000
let sample = Array(stride(from: 0, to: count, by: max(1, count / min(count, 1_000))).prefix(1_000))
let bare = Bare(folder + "/kcbackup/keychains/bare.db")
// By turns, so that both have the same disk: what else a machine does changes from second to second.
var (additions, bareAdditions): ([Double], [Double]) = ([], [])
for number in 0..<count {
    additions += timed([number]) { Items.add("\($0)") }
    bareAdditions += timed([number]) { bare.add("\($0)") }
}
let (added, bareAdded) = (Figures(additions), Figures(bareAdditions))
show("SecItemAdd", added, bareAdded)
let found = Figures(timed((0..<20).flatMap { _ in sample }) { Items.find("\($0)") })
let bareFound = Figures(timed((0..<20).flatMap { _ in sample }) { bare.find("\($0)") })
show("SecItemCopyMatching", found, bareFound)
show("SecItemUpdate", Figures(timed(sample) { Items.update("\($0)") }))
show("SecItemDelete", Figures(timed(sample) { Items.delete("\($0)") }))

let calls = Worker.runAll(isBare: false, folder: folder)
let bareCalls = Worker.runAll(isBare: true, folder: folder)
show("24 threads of 3 processes: reads", calls.reads, bareCalls.reads)
show("24 threads of 3 processes: adds", calls.adds, bareCalls.adds)

func judge(_ goal: String, _ holds: Bool, _ figure: String) {
    print("\(holds ? "holds" : "MISSED")\t\(goal)\t\(figure)")
}
judge("copy of one item with data, one thread: 5,000/s", 1_000_000 / found.mean >= 5_000, "\(Int(1_000_000 / found.mean))/s")
let ratio = bareAdded.median / added.median
judge("add: at 0.8 of the rate of bare SQLite", ratio >= 0.8, String(format: "%.2f", ratio))
judge(
    "24 threads of 3 processes: p99 of reads under 50 ms", calls.reads.percentile99 < 50_000,
    milliseconds(calls.reads.percentile99))
judge(
    "24 threads of 3 processes: p99 of adds under 100 ms", calls.adds.percentile99 < 100_000,
    "\(milliseconds(calls.adds.percentile99)); bare SQLite \(milliseconds(bareCalls.adds.percentile99))")

import Foundation
import Security

// Times the calls on the default keychain, which must be unlocked and be there for this alone, beside bare SQLite.
//
//   Calls COUNT FOLDER               adds COUNT items, then finds, changes and deletes 1,000 of them, and says which goals
//                                    hold; FOLDER is where SQLite's file goes, on the disk of the keychain
//   Calls worker KIND FOLDER NUMBER  what this program starts three of: 8 threads, each with its calls

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "worker" {
    Worker(isBare: arguments[2] == "bare", folder: arguments[3], number: Int(arguments[4]) ?? 0).run()
    exit(0)
}
let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000
let folder = arguments.count > 2 ? arguments[2] : NSTemporaryDirectory()
let sample = Array(stride(from: 0, to: count, by: max(1, count / min(count, 1_000))).prefix(1_000))

func show(_ name: String, _ figures: Figures, _ bare: Figures? = nil) {
    let words = [figures, bare].compactMap { $0 }.map {
        "\(Int(1_000_000 / $0.mean))/s (p50 \(milliseconds($0.median)), p99 \(milliseconds($0.percentile99)))"
    }
    print("\(name)\t\(figures.count) calls\t" + words.joined(separator: "\tbare SQLite "))
}

do {
    try KeychainClient.createDefaultKeychain(passcode: nil)
} catch {
    print("the keychain cannot be made: \(error)")
    exit(1)
}
let bare = Bare(folder + "/bare.db")
// By turns, so that both have the same disk: what else a machine does changes from second to second.
var (additions, bareAdditions): ([Double], [Double]) = ([], [])
for number in 0..<count {
    additions += timed([number]) { Items.add("\($0)") }
    bareAdditions += timed([number]) { bare.add("\($0)") }
}
let (added, bareAdded) = (Figures(additions), Figures(bareAdditions))
show("SecItemAdd", added, bareAdded)
let found = Figures(timed((0..<20).flatMap { _ in sample }) { Items.find("\($0)") })
let bareFound = Figures(
    timed((0..<20).flatMap { _ in sample }) { number in
        guard bare.find("\(number)") > 0 else { fatalError("lost") }
    })
show("SecItemCopyMatching", found, bareFound)
show("SecItemUpdate", Figures(timed(sample) { Items.update("\($0)") }))
show("SecItemDelete", Figures(timed(sample) { Items.delete("\($0)") }))

let (reads, writes) = Worker.runAll(isBare: false, folder: folder)
let (bareReads, bareWrites) = Worker.runAll(isBare: true, folder: folder)
show("24 threads of 3 processes: reads", reads, bareReads)
show("24 threads of 3 processes: adds", writes, bareWrites)

func judge(_ goal: String, _ holds: Bool, _ figure: String) {
    print("\(holds ? "holds" : "MISSED")\t\(goal)\t\(figure)")
}
judge("copy of one item with data, one thread: 5,000/s", 1_000_000 / found.mean >= 5_000, "\(Int(1_000_000 / found.mean))/s")
let ratio = added.mean / bareAdded.mean
judge("add: within 1.2 of bare SQLite", ratio <= 1.2, String(format: "%.2f", ratio))
judge("24 threads of 3 processes: p99 of reads under 50 ms", reads.percentile99 < 50_000, milliseconds(reads.percentile99))
judge(
    "24 threads of 3 processes: p99 of adds under 50 ms", writes.percentile99 < 50_000,
    "\(milliseconds(writes.percentile99)); bare SQLite \(milliseconds(bareWrites.percentile99))")

import Foundation

/// One of several processes that use one file at once: 8 threads, each of which adds 10 items and reads nine times between.
struct Worker {
    let isBare: Bool
    let folder: String
    let number: Int

    private static let threads = 8
    private static let processes = 3
    private static let rounds = 10
    private static let readsPerRound = 9

    /// Does the work, and prints a line for each call: `r` or `w`, and microseconds.
    func run() {
        let lock = NSLock()
        let group = DispatchGroup()
        for thread in 0..<Self.threads {
            group.enter()
            Thread {
                let lines = lines(of: "\(number)-\(thread)")
                lock.withLock { print(lines.joined(separator: "\n")) }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private func lines(of name: String) -> [String] {
        let bare = isBare ? Bare(folder + "/bare.db") : nil
        var lines: [String] = []
        for round in 0..<Self.rounds {
            let item = "\(name)-\(round)"
            lines += timed([round]) { _ in if let bare { bare.add(item) } else { Items.add(item) } }.map { "w \($0)" }
            lines += timed(0..<Self.readsPerRound) { _ in
                if let bare { _ = bare.find(item) } else { Items.find(item) }
            }.map { "r \($0)" }
        }
        return lines
    }

    /// Runs all processes at once; what their reads and adds took.
    static func runAll(isBare: Bool, folder: String) -> (reads: Figures, writes: Figures) {
        let running = (0..<processes).map { number in
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["worker", isBare ? "bare" : "calls", folder, "\(number)"]
            let pipe = Pipe()
            process.standardOutput = pipe
            do { try process.run() } catch { fatalError("\(error)") }
            return pipe
        }
        var (reads, writes): ([Double], [Double]) = ([], [])
        for pipe in running {
            for line in String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n") {
                guard let time = Double(line.dropFirst(2)) else { fatalError(String(line)) }
                if line.hasPrefix("r") { reads.append(time) } else { writes.append(time) }
            }
        }
        return (Figures(reads), Figures(writes))
    }
}

import Foundation

/// One of several processes that use one file at once: in each thread, it adds an item, reads it nine times, and so on.
struct Worker {
    let isBare: Bool
    let folder: String
    let number: Int
    let threads: Int
    let rounds: Int

    private static let readsPerRound = 9

    /// What the calls of all processes took.
    struct Result {
        let reads: Figures
        let adds: Figures
        let addsPerSecond: Double
    }

    /// Does the work from the moment that standard input ends, and prints a line for each call: `r` or `w`, and
    /// microseconds.
    func run() {
        let lock = NSLock()
        let group = DispatchGroup()
        _ = FileHandle.standardInput.readDataToEndOfFile()
        for thread in 0..<threads {
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
        let bare = isBare ? Bare(folder + "/kcbackup/keychains/bare.db") : nil
        var lines: [String] = []
        for round in 0..<rounds {
            let item = "\(name)-\(round)"
            lines += timed([round]) { _ in if let bare { bare.add(item) } else { Items.add(item) } }.map { "w \($0)" }
            lines += timed(0..<Self.readsPerRound) { _ in
                if let bare { bare.find(item) } else { Items.find(item) }
            }.map { "r \($0)" }
        }
        return lines
    }

    /// Runs all processes at once.
    static func runAll(isBare: Bool, folder: String, processes: Int = 3, threads: Int = 8, rounds: Int = 10) -> Result {
        let running = (0..<processes).map { number in
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [
                "worker", isBare ? "bare" : "calls", folder, "\(number)", "\(threads)", "\(rounds)",
            ]
            let (gate, output) = (Pipe(), Pipe())
            process.standardInput = gate
            process.standardOutput = output
            do { try process.run() } catch { fatalError("\(error)") }
            return (gate: gate, output: output)
        }
        let clock = ContinuousClock()
        let start = clock.now
        for process in running { process.gate.fileHandleForWriting.closeFile() }
        var (reads, adds): ([Double], [Double]) = ([], [])
        let outputs = running.map { $0.output.fileHandleForReading.readDataToEndOfFile() }
        let seconds = (clock.now - start) / .seconds(1)
        for line in outputs.flatMap({ String(decoding: $0, as: UTF8.self).split(separator: "\n") }) {
            guard let time = Double(line.dropFirst(2)) else { fatalError(String(line)) }
            if line.hasPrefix("r") { reads.append(time) } else { adds.append(time) }
        }
        guard adds.count == processes * threads * rounds else { fatalError("a process has failed") }
        return Result(reads: Figures(reads), adds: Figures(adds), addsPerSecond: Double(adds.count) / seconds)
    }
}

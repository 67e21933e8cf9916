import Foundation
import KCTestSupport

/// The contents of a disk after a loss of power, as far as they differ from those before the run.
struct DiskImage: Hashable, Sendable {
    struct File: Hashable, Sendable {
        /// Its place in the record, by which two names of one file are known.
        let place: Int
        /// Nil for a folder.
        let bytes: [UInt8]?
        let mode: Int
        let seconds: Int?
        let nanoseconds: Int?
    }

    /// The paths that are gone, or hold something else.
    let removed: Set<String>
    /// The new or changed files, by their paths.
    let files: [String: File]

    /// Writes the paths that are gone into the file `removed`, and the rest into the folder `tree`.
    func write(into folder: TemporaryFolder) throws {
        for name in ["tree", "removed"] where FileManager.default.fileExists(atPath: folder.path(name)) {
            try FileManager.default.removeItem(atPath: folder.path(name))
        }
        let tree = folder.path("tree")
        try FileManager.default.createDirectory(atPath: tree, withIntermediateDirectories: false)
        var names: [Int: String] = [:]
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            let target = tree + "/" + path
            if let other = names[file.place] {
                try FileManager.default.linkItem(atPath: other, toPath: target)
                continue
            }
            if let bytes = file.bytes {
                try Data(bytes).write(to: URL(filePath: target))
                names[file.place] = target
            } else {
                try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            }
            try FileManager.default.setAttributes([.posixPermissions: file.mode], ofItemAtPath: target)
            if let seconds = file.seconds, let nanoseconds = file.nanoseconds {
                let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
                guard unsafe utimensat(AT_FDCWD, target, [time, time], 0) == 0 else {
                    throw CocoaError(.fileWriteUnknown)
                }
            }
        }
        try folder.write("removed", removed.sorted().flatMap { Array($0.utf8) + [0] })
    }
}

extension DiskRecord {
    /// The fate of an event that no sync has made durable.
    enum Fate {
        case lost
        case kept
        /// A write of which only the length of the file is kept: the bytes are zeros.
        case length
        /// A write of which only a part of its bytes is kept, given by its distance from the start.
        case part(Range<Int>)
        /// A write of which the sectors of 512 bytes are kept that a number picks.
        case sectors(UInt64)
    }

    private static let sector = 512

    /// For each event, the first sync that makes it durable.
    func syncs() -> [Int] {
        var next: [Int: Int] = [:]
        var found = Array(repeating: Int.max, count: events.count)
        for place in events.indices.reversed() {
            switch events[place] {
            case .sync(let file): next[file] = place
            case .write(let file, _, _), .truncate(let file, _), .mode(let file, _), .time(let file, _):
                found[place] = next[file] ?? .max
            // A rename is one step for a journal, which the folder of the new name has to reach.
            case .entries(let entries): found[place] = entries.last.flatMap { next[$0.folder] } ?? .max
            }
        }
        return found
    }

    /// The contents of the disk if the power fails after `count` events.
    ///
    /// - Parameters:
    ///   - syncs: the result of ``syncs()``.
    ///   - fate: what becomes of an event that is not durable by then.
    func image(after count: Int, _ syncs: [Int], _ fate: (Int) -> Fate) -> DiskImage {
        var disk = files
        for place in 0..<count {
            let fate = syncs[place] < count ? .kept : fate(place)
            switch (events[place], fate) {
            case (.sync, _), (_, .lost): break
            case (.write(let file, let start, let bytes), let fate): disk[file].write(bytes, at: start, fate)
            case (.truncate(let file, let length), _): disk[file].truncate(to: length)
            case (.mode(let file, let mode), _): disk[file].mode = mode
            case (.time(let file, let time), _): disk[file].changed = time
            case (.entries(let entries), _): for entry in entries { disk[entry.folder].set(entry) }
            }
        }
        return difference(from: paths(of: files), to: paths(of: disk))
    }

    private func difference(from old: [String: DiskImage.File], to new: [String: DiskImage.File]) -> DiskImage {
        var changed = new.filter { path, file in old[path] != file }
        let removed = old.keys.filter { path in new[path] == nil || changed[path].map { $0.bytes != nil } ?? false }
        // The folders in which something is new.
        for path in changed.keys {
            var parts = path.split(separator: "/")
            while parts.popLast() != nil, !parts.isEmpty {
                let folder = parts.joined(separator: "/")
                changed[folder] = new[folder]
            }
        }
        return DiskImage(removed: Set(removed), files: changed)
    }

    /// Every path below the folder.
    private func paths(of disk: [DiskFile]) -> [String: DiskImage.File] {
        var paths: [String: DiskImage.File] = [:]
        func walk(_ folder: Int, _ prefix: String) {
            guard case .folder(let entries) = disk[folder].contents else { return }
            for (name, place) in entries {
                let file = disk[place]
                var bytes: [UInt8]?
                if case .file(let contents) = file.contents { bytes = contents }
                paths[prefix + name] = DiskImage.File(
                    place: place, bytes: bytes, mode: file.mode, seconds: bytes == nil ? nil : file.changed?.tv_sec,
                    nanoseconds: bytes == nil ? nil : file.changed?.tv_nsec)
                walk(place, prefix + name + "/")
            }
        }
        walk(0, "")
        return paths
    }

    /// Every state that a loss of power may leave, each once, in the order in which it may occur first.
    ///
    /// At each moment: nothing that was not synced is left, all of it, the names without the data, the lengths without
    /// the data, the data without the names, all but one change, a last write cut at a page or a sector, and random
    /// parts.
    func images(seed: UInt64, random rounds: Int) -> [(moment: Int, image: DiskImage)] {
        let syncs = syncs()
        var seen: Set<DiskImage> = []
        var images: [(moment: Int, image: DiskImage)] = []
        for count in 0...events.count {
            var random = SeededRandom(seed: seed &* 1_000 &+ UInt64(count))
            for fate in fates(before: count, syncs, &random, rounds) {
                let image = image(after: count, syncs, fate)
                if seen.insert(image).inserted || count == events.count { images.append((count, image)) }
            }
        }
        // At the end, a state counts once even if it was possible before, since then more is demanded of it.
        var last: Set<DiskImage> = []
        return images.filter { $0.moment < events.count || last.insert($0.image).inserted }
    }

    private func fates(
        before count: Int, _ syncs: [Int], _ random: inout SeededRandom, _ rounds: Int
    ) -> [(Int) -> Fate] {
        func isName(_ place: Int) -> Bool { if case .entries = events[place] { true } else { false } }
        var fates: [(Int) -> Fate] = [
            { _ in .lost }, { _ in .kept }, { isName($0) ? .kept : .lost }, { isName($0) ? .kept : .length },
            { isName($0) ? .lost : .kept },
        ]
        let pending = (0..<count).filter { place in
            if case .sync = events[place] { false } else { syncs[place] >= count }
        }
        fates += pending.map { one in { $0 == one ? .lost : .kept } }
        if let last = pending.last, case .write(_, _, let bytes) = events[last] {
            for cut in [Self.sector, 4096, bytes.count / 2 / Self.sector * Self.sector] where cut < bytes.count {
                fates.append { $0 == last ? .part(0..<cut) : .kept }
                fates.append { $0 == last ? .part(cut..<bytes.count) : .kept }
            }
        }
        if pending.count > 1 {
            for _ in 0..<rounds {
                var choices: [Int: Fate] = [:]
                for place in pending {
                    choices[place] = [.lost, .kept, .length, .sectors(random.next())].randomElement(using: &random)
                }
                fates.append { [choices] in choices[$0] ?? .kept }
            }
        }
        return fates
    }
}

extension DiskFile {
    fileprivate mutating func set(_ entry: DiskRecord.Entry) {
        guard case .folder(var entries) = contents else { return }
        contents = .folder([:])
        entries[entry.name] = entry.file
        contents = .folder(entries)
    }

    fileprivate mutating func truncate(to length: Int) {
        guard case .file(let bytes) = contents else { return }
        contents = .file(Array(bytes.prefix(length)) + Array(repeating: 0, count: max(0, length - bytes.count)))
        changed = nil
    }

    mutating func write(_ new: [UInt8], at start: Int, _ fate: DiskRecord.Fate) {
        guard case .file(var bytes) = contents else { return }
        contents = .file([])
        let end = start + new.count
        func put(_ range: Range<Int>) {
            guard !range.isEmpty else { return }
            if bytes.count < start + range.upperBound {
                bytes += Array(repeating: 0, count: start + range.upperBound - bytes.count)
            }
            bytes.replaceSubrange((start + range.lowerBound)..<(start + range.upperBound), with: new[range])
        }
        switch fate {
        case .lost: break
        case .kept: put(0..<new.count)
        case .length: if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
        case .part(let range): put(range)
        case .sectors(let choice):
            // The sectors of the file, in which a write may begin and end anywhere.
            for sector in (start / 512)...((max(start, end - 1)) / 512) where choice >> UInt64(sector % 64) & 1 == 1 {
                put(max(0, sector * 512 - start)..<min(new.count, (sector + 1) * 512 - start))
            }
        }
        contents = .file(bytes)
        changed = nil
    }
}

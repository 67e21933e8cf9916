internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCTerminal

/// `--sample 5%`: the newest archive of each keychain, and a random share of the others.
struct VerifySample: Hashable {
    /// Above 0, and at most 100.
    let percent: Double

    /// Parses a share.
    init(_ text: String) throws(UsageProblem) {
        guard let match = text.wholeMatch(of: /(\d{1,3}(?:\.\d{1,3})?)%/.asciiOnlyDigits()),
            let percent = Double(match.1), percent > 0, percent <= 100
        else { throw .malformed(.sample, form: "a share above 0% and up to 100%, as in '5%'") }
        self.percent = percent
    }

    /// Chooses among the archives of folders, at least one of those that are not the newest; others are all chosen.
    func choose(_ subjects: [VerifySubject], now: Timestamp) -> [VerifySubject] {
        var newest: [ExactText: (name: ArchiveName, index: Int)] = [:]
        var others: [Int] = []
        for (index, subject) in subjects.enumerated() where subject.isOfFolder && subject.problem == nil {
            let (folder, file) = Path.split(subject.path)
            guard let name = ArchiveName(file) else {
                others.append(index)
                continue
            }
            let series = "\(folder)/\(name.series)-\(name.device)".exact
            if let last = newest[series], !last.name.precedes(name, now: now) {
                others.append(index)
            } else {
                if let last = newest[series] { others.append(last.index) }
                newest[series] = (name, index)
            }
        }
        let count = Int((Double(others.count) * percent / 100).rounded(.up))
        let left = Set(others.shuffled().dropFirst(count))
        return subjects.indices.filter { !left.contains($0) }.map { subjects[$0] }
    }
}

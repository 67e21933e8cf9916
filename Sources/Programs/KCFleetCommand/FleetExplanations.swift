internal import KCByteStreams
internal import KCFleet
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
internal import KCTerminal

/// A problem that ends a look at many machines unsuccessfully.
enum FleetProblem: Error, Hashable, Sendable {
    /// The folder of the fleet is not `REMOTE:PATH`.
    case notARemote
    /// Nobody wrote a receipt in these days.
    case noReceipts(RemoteLocation, days: Int)
    /// A list that an administrator wrote cannot be used.
    case list(FleetListFailure, path: String)
    /// These machines have no good backup that is new enough; some of them said nothing at all.
    case stale([String], absent: Int)
    /// These machines have far fewer items than before.
    case shrunk([String])
}

extension FleetProblem: Explained {
    package var explanation: Explanation {
        switch self {
        case .notARemote:
            Explanation(.usage, "the folder of a fleet is 'REMOTE:PATH', as in 'nas:fleet'")
        case .noReceipts(let location, let days):
            Explanation(
                .notFound, "there is no receipt of the last \(counted(days, "day")) in \(quoted(location.text))",
                hint: "'rclone lsf \(shellWord(location.appending("receipts").text))' shows the days that have some")
        case .list(let failure, let path): explainFleetList(failure).prefixed("\(quotedInput(path)): ")
        case .stale(let names, let absent):
            Explanation(
                .stale,
                "\(counted(names.count, "machine")) without a good backup that is new enough, \(absent) of them silent: "
                    + some(names),
                hint:
                    "'kcbackup status' on such a machine says why, 'kcbackup doctor' what would make its next run fail")
        case .shrunk(let names):
            Explanation(
                .shrunk, "\(counted(names.count, "machine")) with far fewer items than before: \(some(names))",
                hint: "keep the archives from before the loss; 'kcbackup diff' of two of them shows what is missing")
        }
    }
}

private func explainFleetList(_ failure: FleetListFailure) -> Explanation {
    switch failure {
    case .inventoryLine(let line):
        Explanation(
            .damaged, "line \(line) is not a device ID, a name without spaces, and perhaps an age such as '26h' or '-'",
            hint: "as in 'KC-ABCD-EFGH-IJKL-MNOP-QRST laptop-17 8d'; lines that begin with '#' are comments")
    case .age(let line):
        Explanation(
            .limit, "the age in line \(line) is more than \(Inventory.ageLimit.hours / 24) days",
            hint: "each of these days would be read; '-' instead of an age expects nothing of a machine")
    case .listedTwice(let line):
        Explanation(
            .damaged, "the device in line \(line) is there twice",
            hint: "remove one of the two lines; two machines with one ID have one device key, and 'kcbackup device "
                + "adopt \(OptionName.newKey.spelling)' gives the copy a key of its own")
    case .namedTwice(let line):
        Explanation(
            .damaged, "the machine in line \(line) has the name of another one",
            hint: "give it another name; if one was replaced by the other, '-' after its name says that nothing is "
                + "expected of it")
    case .noMachine:
        Explanation(
            .damaged, "it names no machine, so none would be missed",
            hint: "'kcbackup device show' on each machine prints its ID, for a line such as "
                + "'KC-ABCD-EFGH-IJKL-MNOP-QRST laptop-17'")
    case .signerLine(let line):
        Explanation(
            .damaged, "line \(line) is not one of an 'allowed_signers' file",
            hint: "'kcbackup device show' on the machine prints its line")
    case .signerOption(let line):
        Explanation(
            .damaged, "line \(line) limits its key in a way that kcbackup does not check",
            hint: "only 'namespaces=\"…\"' and 'cert-authority' are known")
    case .notText:
        Explanation(
            .damaged, "it is not text in UTF-8",
            hint: "'iconv --from-code=UTF-16 --to-code=UTF-8' converts a file that another system wrote")
    }
}

/// Says that something is wrong with some machines, or that some files are no receipts; nil if there are neither.
func fleetDoubt(_ names: [String], rejected: Int) -> String? {
    let machines = names.isEmpty ? [] : ["something is wrong with \(counted(names.count, "machine")) (\(some(names)))"]
    let files = rejected == 0 ? [] : ["\(counted(rejected, "file")) cannot be believed or read"]
    return names.isEmpty && rejected == 0 ? nil : (machines + files).joined(separator: ", and ")
}

/// The first of some names, quoted where needed, and how many more there are.
private func some(_ names: [String]) -> String {
    let shown = names.prefix(5).map { displayed($0, limit: 60) }.joined(separator: ", ")
    return names.count > 5 ? "\(shown), and \(names.count - 5) more" : shown
}

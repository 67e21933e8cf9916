internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCTerminal

/// The options for which backups to keep.
struct RetentionOptions: ParsableArguments {
    @Option(name: OptionName.keepLast.name, help: ArgumentHelp("Keep the last N.", valueName: "n"))
    var keepLast: String?

    @Option(
        name: OptionName.keepHourly.name,
        help: ArgumentHelp("Keep one of each of the last N hours that have one.", valueName: "n"))
    var keepHourly: String?

    @Option(name: OptionName.keepDaily.name, help: ArgumentHelp("The same for days.", valueName: "n"))
    var keepDaily: String?

    @Option(
        name: OptionName.keepWeekly.name,
        help: ArgumentHelp("The same for weeks, which begin on Monday.", valueName: "n"))
    var keepWeekly: String?

    @Option(name: OptionName.keepMonthly.name, help: ArgumentHelp("The same for months.", valueName: "n"))
    var keepMonthly: String?

    @Option(name: OptionName.keepYearly.name, help: ArgumentHelp("The same for years.", valueName: "n"))
    var keepYearly: String?

    @Option(
        name: OptionName.keepWithin.name,
        help: ArgumentHelp("Keep everything from that time before the newest, as in '1y5m7d2h'.", valueName: "time"))
    var keepWithin: String?

    /// True if any rule was given.
    var isGiven: Bool {
        [keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly, keepWithin].contains { $0 != nil }
    }

    /// Returns the rules.
    func retention() throws(UsageProblem) -> Retention {
        var retention = Retention()
        retention.last = try Self.count(keepLast, .keepLast)
        retention.hourly = try Self.count(keepHourly, .keepHourly)
        retention.daily = try Self.count(keepDaily, .keepDaily)
        retention.weekly = try Self.count(keepWeekly, .keepWeekly)
        retention.monthly = try Self.count(keepMonthly, .keepMonthly)
        retention.yearly = try Self.count(keepYearly, .keepYearly)
        if let keepWithin {
            guard let span = TimeSpan(keepWithin) else {
                throw .malformed(.keepWithin, form: "a time such as '30d' or '1y5m7d2h'")
            }
            retention.within = span
        }
        return retention
    }

    private static func count(_ text: String?, _ option: OptionName) throws(UsageProblem) -> Int {
        guard let text else { return 0 }
        guard let number = Int(text), (1...1_000_000).contains(number) else {
            throw .malformed(option, form: "a number from 1 to 1000000")
        }
        return number
    }
}

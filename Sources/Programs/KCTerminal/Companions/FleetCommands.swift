package import ArgumentParser

/// The commands of `kcbackup-fleet`.
package protocol FleetVerbs: Sendable {
    func run(_ verb: FleetStatusCommand, in session: Session) throws -> ExitStatus
    func run(_ verb: FleetIndexCommand, in session: Session) throws -> ExitStatus
    func run(_ verb: FleetSearchCommand, in session: Session) throws -> ExitStatus
    func run(_ verb: FleetExportCommand, in session: Session) throws -> ExitStatus
}

/// `kcbackup fleet`: looks after many machines that share a folder of a remote.
package struct FleetCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Look after many machines that put their backups into one folder of a remote.",
        subcommands: [
            FleetStatusCommand.self, FleetIndexCommand.self, FleetSearchCommand.self, FleetExportCommand.self,
        ])

    package init() {}
}

/// `kcbackup fleet status`.
package struct FleetStatusCommand: Verb {
    package static let companion: Companion? = .fleet
    package static let mainOptions: [OptionName] = [.inventory, .maxAge, .prometheus]

    package static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which machines reported a good backup, and which did not.",
        discussion: """
            Reads the receipts that the machines signed, day by day. A line is printed for each machine that has a \
            problem, or with '--verbose' for every machine. The inventory has lines 'DEVICE-ID NAME [AGE]', and says \
            which machines are expected and whose signatures count.

            The run ends with 17 if a machine has no recent enough good backup, with 15 if one has far fewer items \
            than before, and with 3 if something else is wrong or cannot be believed.

            EXAMPLES:
              kcbackup fleet status nas:fleet --inventory machines.txt
              kcbackup fleet status nas:fleet --prometheus > fleet.prom
              kcbackup fleet status nas:fleet --inventory machines.txt --html fleet.html
            """)

    @Argument(help: ArgumentHelp("The folder of the fleet.", valueName: "remote:path"))
    package var folder: String

    @OptionGroup
    package var lists: FleetMemberOptions

    @Option(
        name: OptionName.maxAge.name,
        help: ArgumentHelp("How old a last good backup may be, as in '26h' or '8d'.", valueName: "time"))
    package var maxAge = "26h"

    @Option(
        name: OptionName.days.name,
        help: ArgumentHelp("Read the receipts of so many days, and not only those that decide.", valueName: "number"))
    package var days: String?

    @Flag(
        name: OptionName.knownJunk.name,
        help:
            "Files that are no receipts, and that anyone who may write there can have put there, do not end the run with 3."
    )
    package var knownJunk = false

    @OptionGroup
    package var form: ReportOptions

    @OptionGroup
    package var style: StyleOptions

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.fleet?.run(self, in: session) ?? session.handOver(to: .fleet)
    }
}

/// `kcbackup fleet index`.
package struct FleetIndexCommand: Verb {
    package static let companion: Companion? = .fleet
    package static let mainOptions: [OptionName] = [.identity, .inventory, .output]

    package static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Collect what the archives of all machines hold in a file that is searched.",
        discussion: """
            Reads the names, dates and classes of all items, and never a secret: the identity of an inspect recipient \
            is enough, and any other opens no more of an archive here. Each archive is verified as by 'inspect', and \
            read once; the next run reads only new ones.

            Archives of devices that are neither in the inventory nor among the signers are left out, and so are those \
            that cannot be read. The run then ends with 3.

            EXAMPLES:
              kcbackup fleet index nas:fleet -i key --inventory list.txt -o fleet.index
            """)

    @Argument(help: ArgumentHelp("The folder of the fleet.", valueName: "remote:path"))
    package var folder: String

    @OptionGroup
    package var keys: IdentityOptions

    @OptionGroup
    package var membership: FleetMemberOptions

    @OptionGroup
    package var part: FleetPartOptions

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The index, which is made if there is none.", valueName: "file"), completion: .file())
    package var output: String

    @OptionGroup
    package var style: StyleOptions

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.fleet?.run(self, in: session) ?? session.handOver(to: .fleet)
    }
}

/// `kcbackup fleet search`.
package struct FleetSearchCommand: Verb {
    package static let companion: Companion? = .fleet
    package static let mainOptions: [OptionName] = [.device, .on, .last]

    package static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find items of all machines in what 'fleet index' collected.",
        discussion: """
            Lists the items whose service, server, account or label has all of the words, in the newest archive of \
            each keychain. A word is letters and digits, in any case and with any accents, and is found as a whole: \
            'mail' finds 'mail.example.org', and 'example' does too, but 'exam' does not. If other characters join \
            words, as in 'wi-fi', these must follow each other.

            EXAMPLES:
              kcbackup fleet search fleet.index mail.example.org
              kcbackup fleet search fleet.index 'wi-fi ada' --last
              kcbackup fleet search fleet.index --device laptop-17 --on 2026-10-03
            """)

    @Argument(help: ArgumentHelp("What 'fleet index' wrote.", valueName: "index"), completion: .file())
    package var index: String

    @Argument(help: ArgumentHelp("Words of the items.", valueName: "text"))
    package var text: String?

    @Option(
        name: OptionName.device.name,
        help: ArgumentHelp("Only the items of this machine.", valueName: "name|id"))
    package var device: String?

    @Option(
        name: OptionName.on.name,
        help: ArgumentHelp("What there was at the end of a day, as in '2026-10-03'.", valueName: "date"))
    package var on: String?

    @Flag(name: OptionName.last.name, help: "Also what is no longer there, and when it was last seen.")
    package var last = false

    @Flag(name: OptionName.all.name, help: "Show up to 100000 items, instead of 1000.")
    package var all = false

    @OptionGroup
    package var table: TableOptions

    @OptionGroup
    package var style: StyleOptions

    package static func title(of option: OptionName) -> OptionTitle { option == .all ? .output : option.title }

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.fleet?.run(self, in: session) ?? session.handOver(to: .fleet)
    }
}

/// `kcbackup fleet export`.
package struct FleetExportCommand: Verb {
    package static let companion: Companion? = .fleet
    package static let mainOptions: [OptionName] = [.output, .on]

    package static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write what all machines have as lines of JSON, for another database.",
        discussion: """
            Each line is an item as it is in the newest archive of a keychain, with its machine: names, dates and classes, \
            and never a secret. The lines of a file whose name ends with '.gz' are compressed.

            EXAMPLES:
              kcbackup fleet export fleet.index -o items.jsonl.gz
              kcbackup fleet export fleet.index --on 2026-10-03 -o 2026-10-03.jsonl
              kcbackup fleet export part-3.index -o lake:2026-10-03/3.jsonl.gz
            """)

    @Argument(help: ArgumentHelp("What 'fleet index' wrote.", valueName: "index"), completion: .file())
    package var index: String

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp("The new file, here or on a remote; '-' for standard output.", valueName: "file"),
        completion: .file())
    package var output: String

    @Option(
        name: OptionName.on.name,
        help: ArgumentHelp("What there was at the end of a day, as in '2026-10-03'.", valueName: "date"))
    package var on: String?

    @OptionGroup
    package var part: FleetPartOptions

    @OptionGroup
    package var style: StyleOptions

    package init() {}

    package func run(in session: Session) throws -> ExitStatus {
        try session.world.fleet?.run(self, in: session) ?? session.handOver(to: .fleet)
    }
}

/// The option that takes a part of the machines of a fleet.
package struct FleetPartOptions: ParsableArguments {
    @Option(
        name: OptionName.shard.name,
        help: ArgumentHelp(
            "Only this part of the machines, as in '3/16', so that workers share the work.", valueName: "k/n"))
    package var shard: String?

    package init() {}
}

/// The options that say whose signatures count in a fleet.
package struct FleetMemberOptions: ParsableArguments {
    @Option(
        name: OptionName.inventory.name,
        help: ArgumentHelp("The machines of the fleet.", valueName: "file"), completion: .file())
    package var inventory: String?

    @Option(
        name: OptionName.signers.name,
        help: ArgumentHelp(
            "Believe these devices alone: an 'allowed_signers' file of ssh-keygen.", valueName: "file"),
        completion: .file())
    package var signers: String?

    package init() {}
}

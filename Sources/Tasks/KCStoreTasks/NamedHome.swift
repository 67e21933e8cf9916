internal import KCAsking
internal import KCBackupArchive
package import KCByteStreams
package import KCHomeFiles
package import KCItemStores

/// An event while the files of a home are read.
package enum HomeEvent: TaskEvent {
    /// The files that a backup takes and leaves.
    case taken(HomeHoldings)
    /// Files that a list lacks, since they could not be read.
    case unread(HomeHoldings)
    /// A path may be missing in the archive, as the user said, and is not.
    case acceptedInVain(HomePath, isUnread: Bool)
}

/// The files with secrets that a home, or a system, holds.
package struct HomeHoldings {
    package let root: HomeRoot
    package let contents: HomeContents
    /// The keyrings of apps among the files; nil if only the files were asked for.
    package var appKeyrings: AppKeyrings?
    /// The folder of the connections of the system, and how many are there; nil if there are none.
    package var connections: (folder: String, count: Int)?
}

/// Files of a home that an archive should have, and would not.
package struct HomeFilesMissing: Error, Hashable, Sendable {
    package let first: String
    package let reason: Reason
    package let count: Int
    /// True if some stay in their place by a rule, so that they can be accepted.
    package let canBeAccepted: Bool

    package init(first: String, reason: Reason, count: Int, canBeAccepted: Bool) {
        (self.first, self.reason, self.count, self.canBeAccepted) = (first, reason, count, canBeAccepted)
    }

    package enum Reason: Hashable, Sendable {
        case unread(HomeFile.Failure)
        case left(HomeReason)
    }
}

/// A path that is not in the home, of which a backup may miss only what is.
package struct NotInHome: Error {}

/// `home:` or `systemd-creds:`: files of fixed places that hold secrets.
package struct NamedHome: NamedStore {
    package let root: HomeRoot

    package init(root: HomeRoot) { self.root = root }

    package var name: String { root.storeName }
    package var kind: StoreKind { .home }
    package var recorded: (kind: String, name: String) { (root.sourceKind, "") }
    package var stem: String { root.sourceKind }
    package var plainStem: String { root.sourceKind }

    package func requirePlace(in machine: Machine) throws(FileFailure) {
        let path = machine.path(of: root)
        // The data folder would be made in it.
        if !Path.isFolder(path) { throw FileFailure(path, .notFound) }
    }

    /// Reads the files, and tells what is not among them.
    package func opened(_ access: StoreAccess, for use: StoreUse, in context: TaskContext) throws -> OpenStore {
        let path = context.machine.path(of: root)
        let found = try HomeReader.read(path, root)
        let accepted = try places(access.acceptMissing, in: context.machine)
        for place in accepted { found.tellIfVain(place, in: context) }
        var holdings = HomeHoldings(root: root, contents: found.accepting(Set(accepted.map { $0.shown.exact })))
        if use == .archiving {
            if root == .home {
                holdings.appKeyrings = try AppKeyrings(in: context.machine)
                holdings.connections = context.machine.connections()
            }
            context.tell(HomeEvent.taken(holdings))
        } else {
            context.tell(HomeEvent.unread(holdings))
        }
        return OpenStore(
            HomeItemStore(
                holdings.contents, identity: "\(name)\(Path.real(path) ?? path)", isForArchive: use == .archiving),
            .ofHome(holdings))
    }

    /// Finds the files that an archive should have, and would not.
    ///
    /// - Throws: `HomeFilesMissing`.
    package func examine(_ access: StoreAccess, isUnencrypted: Bool, in context: TaskContext) throws {
        let accepted = try places(access.acceptMissing, in: context.machine)
        let contents = try HomeReader.read(context.machine.path(of: root), root)
            .accepting(Set(accepted.map { $0.shown.exact }))
        let missed = contents.missed
        let missing: [(path: String, reason: HomeFilesMissing.Reason)] =
            contents.unread.map { ($0.path, .unread($0.problem)) } + missed.map { ($0.path, .left($0.reason)) }
        guard let first = missing.first else { return }
        throw HomeFilesMissing(
            first: first.path, reason: first.reason, count: missing.count, canBeAccepted: !missed.isEmpty)
    }

    /// The places that the user does without.
    ///
    /// - Parameter named: paths as the user named them.
    private func places(_ named: [String], in machine: Machine) throws(NotInHome) -> [HomePath] {
        var places: [HomePath] = []
        for path in named {
            guard root == .home, let place = HomePath(of: machine.absolute(inHome: path), in: machine.home) else {
                throw NotInHome()
            }
            places.append(place)
        }
        return places
    }

    package func restorable(
        _ access: StoreAccess, noPasscode: Bool, in context: TaskContext
    ) throws -> any RestorableStore {
        RestorableHome(root, context.machine.path(of: root), context.stateSetting)
    }

    package func changeable(_ access: StoreAccess, in context: TaskContext) throws -> any ItemStore {
        throw StoreUnfit.areFiles(root)
    }
}

extension HomeContents {
    /// Tells if a place that the user does without makes no difference.
    fileprivate func tellIfVain(_ place: HomePath, in context: TaskContext) {
        let path = place.shown
        if missed.contains(where: { $0.path.exact == path.exact }) { return }
        // The contents of a folder that cannot be read are not known.
        let isUnread = unread.contains { path.exact == $0.path.exact || path.exact.hasPrefix($0.path + "/") }
        context.tell(HomeEvent.acceptedInVain(place, isUnread: isUnread))
    }
}

extension Machine {
    /// The path below which files are.
    package func path(of root: HomeRoot) -> String {
        switch root {
        case .home: home
        case .credentials: systemRoot
        }
    }

    /// The folder of the connections of NetworkManager, and how many are in it; nil if there are none, or if the folder
    /// cannot be listed.
    fileprivate func connections() -> (folder: String, count: Int)? {
        let names: [String]
        do throws(FileFailure) {
            names = try Path.names(in: systemConnections)
        } catch {
            // Few systems hide the names, and a backup of a home is whole without them.
            return nil
        }
        let count = names.count { $0.exact.hasSuffix(".nmconnection") }
        return count == 0 ? nil : (systemConnections, count)
    }
}

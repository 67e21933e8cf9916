internal import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleet
internal import KCLocalKeychains
internal import KCStoreTasks
internal import KCTerminal

extension FleetPartOptions {
    /// The part of the machines; nil for all.
    func shard() throws(UsageProblem) -> FleetShard? {
        guard let text = shard else { return nil }
        guard let shard = FleetShard(text) else {
            throw .malformed(.shard, form: "a part of at most 1000, as in '3/16'")
        }
        return shard
    }
}

extension FleetMemberOptions {
    /// The members of the fleet; without a list, this device and those that it trusts.
    ///
    /// - Throws: as `read`.
    func members(in session: Session) throws -> FleetMembers { try read(in: session).members }

    /// The inventory, if one is given, and the members of the fleet.
    ///
    /// - Throws: `FleetProblem` (`list`), `FileFailure`, and errors of reading the device key.
    func read(in session: Session) throws -> (inventory: Inventory?, members: FleetMembers) {
        let expected = try list(inventory, in: session) { bytes throws(FleetListFailure) in try Inventory(bytes) }
        let believed = try list(signers, in: session) { bytes throws(FleetListFailure) in try AllowedSigners(bytes) }
        let members = FleetMembers(
            inventory: expected, signers: believed, trusted: try signers == nil ? trusted(in: session) : [:])
        return (expected, members)
    }

    private func list<List>(
        _ path: String?, in session: Session, _ parse: ([UInt8]) throws(FleetListFailure) -> List
    ) throws -> List? {
        guard let path else { return nil }
        let bytes = try PrivateFile.readPublic(session.machine.resolve(path), limit: Inventory.sizeLimit)
        do throws(FleetListFailure) {
            return try parse(bytes.withBytes { span in span.indices.map { span[$0] } })
        } catch {
            throw FleetProblem.list(error, path: path)
        }
    }

    /// This device, and those that it trusts.
    private func trusted(in session: Session) throws -> [DeviceID: String] {
        guard let local = try LocalDevice(session.machine).identity() else { return [:] }
        return local.trusted.merging([local.device.id: "this device"]) { name, _ in name }
    }
}

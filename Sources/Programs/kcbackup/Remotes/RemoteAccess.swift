internal import KCRemotes

extension RemoteLocation {
    /// The form of an option's value.
    static let form = "a folder of a remote, as in 'nas:backups' or 'sftp:nas:backups'"

    /// The form of the value of an option that says where copies go.
    static let destinationForm = form + ", or a folder here, as in '/media/usb' or './usb'"
}

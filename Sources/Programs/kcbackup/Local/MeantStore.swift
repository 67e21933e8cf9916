internal import KCItemStores
internal import KCReportText
internal import KCStoreTasks

extension MeantStore {
    /// The hint.
    var words: String {
        switch self {
        case .keyring(let name): "did you mean \(quoted(name)), the desktop keyring?"
        case .keychain(let name): "did you mean \(quoted(name))? capital letters count"
        case .keyringFile(let path):
            "did you mean the file, \(quoted(FileOfItems.name(path))), or the desktop keyring, "
                + "\(quoted(DesktopKeyring.all.name))?"
        }
    }
}

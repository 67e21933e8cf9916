// BackupArchive

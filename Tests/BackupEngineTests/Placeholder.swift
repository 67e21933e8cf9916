// BackupEngine

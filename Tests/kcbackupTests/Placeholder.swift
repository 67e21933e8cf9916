// kcbackup

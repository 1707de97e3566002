package pgserver

import "syscall"

const (
	// memory is the folder for files in memory on Linux.
	memory = "/dev/shm"
	// memoryNeeded is more than the databases and logs of all concurrent tests
	// have ever taken.
	memoryNeeded = 4 << 30
)

// place returns the folder for a cluster if none was given. "" means the
// system's folder for temporary files.
//
// A volatile cluster is placed in memory if there is room. Tests create a
// database each and drop it soon after; on ext4, creating and removing all
// those files took half of the CPU time of the tests of internal/api.
func place(kind Durability) string {
	if kind == Volatile && room(memory) >= memoryNeeded {
		return memory
	}
	return ""
}

// room returns the number of free bytes in a folder's file system, or 0 if
// there is no such folder.
func room(dir string) uint64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize)
}

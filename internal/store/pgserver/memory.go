package pgserver

import "syscall"

const (
	// memory is where Linux keeps files that are not to reach a disk.
	memory = "/dev/shm"
	// memoryNeeded is more than the databases and the log of all tests that
	// run at once have ever taken.
	memoryNeeded = 4 << 30
)

// place returns the folder for a cluster for which none was named; "" means the
// system's folder for temporary files.
//
// A volatile cluster goes into memory if there is room. Tests create a database
// each and drop it soon after, and on ext4 creating and removing all those files
// was half of the processor time of the tests of internal/api.
func place(kind Durability) string {
	if kind == Volatile && room(memory) >= memoryNeeded {
		return memory
	}
	return ""
}

// room is how many bytes are free in a folder's file system: none where there
// is no such folder.
func room(dir string) uint64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize)
}

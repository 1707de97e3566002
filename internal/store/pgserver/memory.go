package pgserver

import "syscall"

const (
	// memory is where Linux keeps files that are not to reach a disk.
	memory = "/dev/shm"
	// memoryNeeded is more than the databases and the log of all tests that
	// run at once have ever taken.
	memoryNeeded = 4 << 30
)

// place says where a cluster goes for which no folder was named; "" is the
// system's folder for temporary files.
//
// A volatile one goes into memory if there is room. Tests make a database each
// from some 300 files and remove it soon after. ext4 does not use the number of
// a removed file again for five seconds and looks through all those it must
// pass over, which took most of the processor time of such tests.
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

package storetest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// Tmpfs mounts a small file system for the test and returns its folder. It
// skips the test if that is not permitted.
func Tmpfs(tb testing.TB, size string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		testneed.Skip(tb, "this user may not mount a file system: "+err.Error())
	}
	tb.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			tb.Errorf("unmounting: %v", err)
		}
	})
	return dir
}

// Fill uses up all space of a folder's file system, until free is called.
func Fill(tb testing.TB, dir string) (free func()) {
	tb.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	for _, size := range []int{1 << 20, 4 << 10, 1} {
		for chunk := make([]byte, size); err == nil; {
			_, err = f.Write(chunk)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			tb.Fatal(err)
		}
		err = nil
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return func() {
		tb.Helper()
		if err := os.Remove(path); err != nil {
			tb.Fatal(err)
		}
	}
}

// Resize changes the size of a file system mounted by Tmpfs.
func Resize(tb testing.TB, dir, size string) {
	tb.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size="+size); err != nil {
		tb.Fatal(err)
	}
}

// Tighten leaves room bytes free on a file system mounted by Tmpfs.
func Tighten(tb testing.TB, dir string, room int64) {
	tb.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		tb.Fatal(err)
	}
	Resize(tb, dir, strconv.FormatInt(int64(disk.Blocks-disk.Bfree)*disk.Bsize+room, 10))
}

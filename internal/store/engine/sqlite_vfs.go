package engine

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/ncruces/go-sqlite3/vfs/adiantum"
	cipher "lukechampine.com/adiantum"
	"lukechampine.com/adiantum/hbsh"
)

// encryptedVFS is the name of the VFS of encrypted databases: the driver's
// Adiantum VFS except for the write-ahead log, which is read while it is being
// written. The driver encrypts it in blocks of 4 KiB, with which the frames of
// the log, 4,120 bytes each, are not aligned. To append a frame, it rewrites
// the block with the end of the previous frame, and a concurrent reader of that
// frame may get half of the old block and half of the new one, which decrypts
// to garbage. Here each part of a frame is encrypted separately, and nothing
// that a reader may need is ever rewritten.
const encryptedVFS = "anodyne"

func init() {
	plain := vfs.Find("")
	vfs.Register(encryptedVFS, &encryptingVFS{VFS: adiantum.Wrap(plain, nil), plain: plain})
}

type encryptingVFS struct {
	vfs.VFS
	plain vfs.VFS
}

// OpenFilename implements [vfs.VFSFilename].
func (v *encryptingVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if flags&vfs.OPEN_WAL != 0 {
		return v.openLog(name, flags)
	}
	file, flags, err := vfsutil.WrapOpenFilename(v.VFS, name, flags)
	if err != nil || flags&vfs.OPEN_MAIN_DB == 0 {
		return file, flags, err
	}
	inner, ok := file.(layer)
	if !ok {
		return nil, flags, errors.Join(errors.New("the driver's encryption layer has changed"), file.Close())
	}
	main := &mainFile{layer: inner}
	main.key, _ = hex.DecodeString(name.URIParameter("hexkey"))
	return main, flags, nil
}

func (v *encryptingVFS) openLog(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	main, ok := vfsutil.UnwrapFile[*mainFile](name.DatabaseFile())
	if !ok || len(main.key) == 0 {
		return nil, flags, sqlite3.IOERR_BADKEY
	}
	// Encryption uses only the key and the offset. With the key of the
	// database, a page of the log could be compared with the page at the same
	// offset in the database.
	key, err := hkdf.Key(sha256.New, main.key, nil, "anodyne write-ahead log", 32)
	if err != nil {
		return nil, flags, err
	}
	file, flags, err := vfsutil.WrapOpenFilename(v.plain, name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &logFile{File: file, cipher: cipher.New(key)}, flags, nil
}

// layer lists the optional interfaces implemented by the driver's files.
type layer interface {
	vfs.FilePragma
	vfs.FileSharedMemory
	vfs.FileLockState
	vfs.FileSizeHint
	vfs.FileChunkSize
	vfs.FileHasMoved
	vfs.FileOverwrite
	vfs.FileSync
	vfs.FileCommitPhaseTwo
	vfs.FileBatchAtomicWrite
	vfs.FileCheckpoint
	vfs.FileBusyHandler
}

// mainFile is the database file. It keeps the key for the log.
type mainFile struct {
	layer
	key []byte
}

// Pragma implements [vfs.FilePragma]. It intercepts the key.
func (f *mainFile) Pragma(name, value string) (string, error) {
	if name == "hexkey" {
		f.key, _ = hex.DecodeString(value) // the driver's VFS rejects an invalid key
	}
	return f.layer.Pragma(name, value)
}

// ReadAt implements [io.ReaderAt].
func (f *mainFile) ReadAt(p []byte, off int64) (int, error) {
	defer clearWideRegisters()
	return f.layer.ReadAt(p, off)
}

// WriteAt implements [io.WriterAt].
func (f *mainFile) WriteAt(p []byte, off int64) (int, error) {
	defer clearWideRegisters()
	return f.layer.WriteAt(p, off)
}

// Unwrap returns the file of the driver's VFS.
func (f *mainFile) Unwrap() vfs.File { return f.layer }

// A write-ahead log is a header followed by frames, each of which has a header
// and a page.
const (
	logHeader   = 32
	frameHeader = 24
	framePage   = 4096
)

// logPart returns the start and size of the part of the log that contains an
// offset.
func logPart(off int64) (start int64, size int) {
	if off < logHeader {
		return 0, logHeader
	}
	within := (off - logHeader) % (frameHeader + framePage)
	start = off - within
	if within < frameHeader {
		return start, frameHeader
	}
	return start + frameHeader, framePage
}

// logFile is a write-ahead log whose parts are encrypted separately.
type logFile struct {
	vfs.File
	cipher *hbsh.HBSH
	buf    [framePage]byte
}

// part reads and decrypts the part at start. It returns an error if the part is
// incomplete at the end of the file.
func (f *logFile) part(start int64, size int) ([]byte, error) {
	block := f.buf[:size]
	if n, err := f.File.ReadAt(block, start); n < size {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return f.cipher.Decrypt(block, binary.LittleEndian.AppendUint64(nil, uint64(start))), nil
}

// ReadAt implements [io.ReaderAt].
func (f *logFile) ReadAt(p []byte, off int64) (n int, err error) {
	defer clearWideRegisters()
	for n < len(p) {
		at := off + int64(n)
		start, size := logPart(at)
		block, err := f.part(start, size)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], block[at-start:])
	}
	return n, nil
}

// WriteAt implements [io.WriterAt]. SQLite writes whole parts, except when it
// syncs in the middle of a page that is not yet committed.
func (f *logFile) WriteAt(p []byte, off int64) (n int, err error) {
	defer clearWideRegisters()
	for n < len(p) {
		at := off + int64(n)
		start, size := logPart(at)
		block := f.buf[:size]
		if at > start || len(p)-n < size {
			if _, err := f.part(start, size); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				clear(block)
			} else if err != nil {
				return n, err
			}
		}
		took := copy(block[at-start:], p[n:])
		f.cipher.Encrypt(block, binary.LittleEndian.AppendUint64(nil, uint64(start)))
		if _, err := f.File.WriteAt(block, start); err != nil {
			return n, err
		}
		n += took
	}
	return n, nil
}

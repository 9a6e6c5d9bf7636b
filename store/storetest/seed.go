package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"parley/store"
	"parley/store/private"
)

// seeded is the name of the migrated database in the seed: that which a server makes.
const seeded = "parley"

// seed returns the directory of a stopped cluster with a migrated database. Making one takes seconds
// of processor time and copying it a moment, so the first test that wants a cluster makes it, in the
// repository's bin, and all others copy it until the migrations change.
var seed = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs(".")
	for ; err == nil; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return "", errors.New("there is no go.mod above the test")
		}
	}
	migrations, err := filepath.Glob(filepath.Join(root, "store", "migrations", "*.sql"))
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, path := range migrations {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(path), len(text), text)
	}
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(bin, "seed.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	dir := filepath.Join(bin, "seed-"+hex.EncodeToString(hash.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	old, _ := filepath.Glob(filepath.Join(bin, "seed-*"))
	for _, path := range old {
		_ = os.RemoveAll(path) // it only takes room
	}
	return dir, makeSeed(dir)
})

// makeSeed makes the cluster where the service account can work, and moves it to dir.
func makeSeed(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	work, err := os.MkdirTemp(Scratch(), "parley-seed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	made := filepath.Join(work, "pg")
	c, err := private.Start(ctx, private.Options{Dir: made, Volatile: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, c.URL())
	if err == nil {
		err = db.Migrate(ctx)
		db.Close()
	}
	if err := errors.Join(err, c.Stop()); err != nil {
		return err
	}
	if err := copyTree(made, dir+".new"); err != nil {
		return err
	}
	return os.Rename(dir+".new", dir)
}

func copyTree(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Cluster gives a server's data directory, which it makes, a private cluster as a server before
// would have left it: with a migrated database in which nobody has an account.
func Cluster(t testing.TB, dataDir string) {
	t.Helper()
	from, err := seed()
	if err == nil {
		err = os.Mkdir(dataDir, 0o711) // the service account gets through
	}
	if err == nil {
		err = copyTree(from, private.Dir(dataDir))
	}
	if err != nil {
		t.Fatal("storetest: ", err)
	}
}

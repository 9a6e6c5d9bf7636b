package doctor

import (
	"context"
	"time"

	"parley/cmd/parley/config"
	"parley/store/blob"
)

// storagePatience is how long a store of files may take for a small one.
const storagePatience = 15 * time.Second

// checkStorage writes, reads, lists and deletes a small file in the store of PARLEY_STORAGE_URL,
// if there is one.
func checkStorage(ctx context.Context, cfg *config.Config) Finding {
	if cfg.Storage == nil {
		return good("off: recordings are in a directory of this node (PARLEY_STORAGE_URL)")
	}
	store, err := cfg.Storage.Open(cfg.StorageAccess, "doctor")
	if err != nil {
		return fail("set PARLEY_STORAGE_URL", "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	if err := blob.Check(ctx, store); err != nil {
		return fail("check bucket, endpoint, region and keys of PARLEY_STORAGE_URL, and that the keys may get, put, list and delete", "%v", err)
	}
	return good("a file was written, read, listed and deleted")
}

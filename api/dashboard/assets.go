package dashboard

import (
	"io/fs"

	"parley/api/asset"
)

// newAssets are all files in static, and those of others.
func newAssets() *asset.Set {
	names := []string{"vendor/htmx.min.js", "vendor/sse.min.js", "vendor/uPlot.iife.min.js", "vendor/uPlot.min.css"}
	err := fs.WalkDir(assetFiles, "static", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		panic("dashboard: " + err.Error()) // the compiler has embedded them
	}
	return asset.NewSet(assetFiles, home, names...)
}

package docs

import (
	"embed"

	"parley/api/asset"
)

//go:embed static vendor/swagger-ui-bundle.js vendor/swagger-ui.css
var assetFiles embed.FS

// newAssets are the files that pages load.
func newAssets() *asset.Set {
	return asset.NewSet(assetFiles, home, "static/style.css", "static/docs.js", "static/explorer.css", "static/explorer.js", "static/icon.svg",
		"vendor/swagger-ui-bundle.js", "vendor/swagger-ui.css")
}

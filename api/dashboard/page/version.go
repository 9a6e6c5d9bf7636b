package page

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
)

// VersionOf is another for another value.
func VersionOf(v any) string {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(v) // plain values
	return strconv.FormatUint(h.Sum64(), 36)
}

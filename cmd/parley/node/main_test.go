package node

import (
	"os"
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/store/storetest"
)

func TestMain(m *testing.M) {
	if clip := os.Getenv(farEndClip); clip != "" {
		playFarEnd(clip)
		return
	}
	storetest.Main(dashboardtest.Closing(m))
}

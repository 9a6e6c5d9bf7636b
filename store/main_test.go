package store_test

import (
	"testing"

	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

package dashboard_test

import (
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(dashboardtest.Closing(m)) }

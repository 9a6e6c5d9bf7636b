package callcenter

import "parley/store/jobs"

// The jobs of a desk.
var MonthsJob, CarrierJob jobs.Args = monthsArgs{}, carrierArgs{}

package config

// CheckUpTo is Check with another bound on the number of rules.
var CheckUpTo = check

plant(tests/sim/a_test.cpp "TEST_CASE(\"one; two\") {}\n" "letters, digits, spaces and hyphens only")
plant(tests/sim/b_test.cpp "TEST_CASE(\n    \"a [list] of names\") {}\n" "letters, digits, spaces and hyphens only")
plant(tests/cases/Bad-name.case "# x\n" "lower_snake")

package strength

// levels are the skill levels: the rating, the nodes, the moves found and the spread
// of the draw. docs/experiments/strength-limit.md has how the ratings were measured.
var levels = [FullSkill]level{
	{-1004, Limit{2500, 30, 1600}},
	{-869, Limit{2500, 30, 1030}},
	{-737, Limit{2500, 26, 820}},
	{-529, Limit{2500, 23, 660}},
	{-404, Limit{2500, 21, 550}},
	{-304, Limit{2500, 18, 470}},
	{-130, Limit{2500, 16, 400}},
	{-46, Limit{1700, 14, 365}},
	{58, Limit{1200, 12, 335}},
	{191, Limit{800, 10, 300}},
	{307, Limit{850, 8, 245}},
	{417, Limit{950, 7, 205}},
	{547, Limit{1100, 7, 170}},
	{655, Limit{1300, 7, 135}},
	{780, Limit{1500, 6, 107}},
	{905, Limit{1900, 6, 82}},
	{977, Limit{2400, 6, 59}},
	{1101, Limit{3200, 5, 42}},
	{1171, Limit{5200, 4, 24}},
	{1347, Limit{8500, 3, 12}},
}

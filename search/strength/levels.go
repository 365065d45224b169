package strength

// levels are the skill levels: the rating, the nodes, the moves found and the spread
// of the draw. docs/experiments/strength-limit.md has how the ratings were measured.
var levels = [FullSkill]level{
	{-1028, Limit{2500, 30, 1600}},
	{-901, Limit{2500, 30, 1000}},
	{-706, Limit{2500, 24, 700}},
	{-516, Limit{2500, 20, 520}},
	{-298, Limit{2500, 16, 400}},
	{68, Limit{770, 10, 300}},
	{210, Limit{850, 8, 230}},
	{384, Limit{1000, 7, 180}},
	{487, Limit{1200, 7, 150}},
	{589, Limit{1400, 7, 120}},
	{751, Limit{1700, 6, 93}},
	{813, Limit{2000, 6, 74}},
	{906, Limit{2400, 6, 59}},
	{1023, Limit{2800, 5, 47}},
	{1062, Limit{3400, 5, 37}},
	{1084, Limit{4000, 4, 30}},
	{1100, Limit{4800, 4, 24}},
	{1118, Limit{5700, 4, 19}},
	{1222, Limit{6700, 3, 15}},
	{1270, Limit{8000, 3, 12}},
}

package planesfit

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
)

// squares of the board.
const squares = kernel.ImageSide * kernel.ImageSide

// normalisation is a batch normalisation: the mean of each channel is subtracted
// and the rest divided by the standard deviation, then scaled and shifted.
type normalisation struct {
	scale, bias, mean, variance span
	channels                    int
}

// unit is a convolution with what follows it at once: a normalisation, the
// addition of other images, a rectifier.
type unit struct {
	conv *convolution
	norm normalisation
	relu bool
}

// unitWork is what one worker holds of a unit for a part of a batch.
type unitWork struct {
	y, out   kernel.FloatImages     // after the convolution, and after all
	affine   *kernel.FloatDepthwise // the normalisation of this part
	gradient convolutionGradient

	mean, deviation []float64 // of y, with Epsilon
	sums, products  []float32
	scale, shift    []float32
	total, product  []float64
	batch           []float64 // n·mean, then n·(variance + mean²), of the group's parts so far
	dScale, dBias   []float64 // of the group's parts so far
}

func (u *unit) newWork(part int) *unitWork {
	c := u.conv.padOut
	w := &unitWork{
		y: kernel.NewFloatImages(part, c, 1), out: kernel.NewFloatImages(part, c, 1),
		affine:   kernel.NewFloatDepthwise(make([]float32, c), nil, c, 1),
		gradient: u.conv.newGradient(),
		sums:     make([]float32, c), products: make([]float32, c),
		scale: make([]float32, c), shift: make([]float32, c),
	}
	for _, x := range []*[]float64{&w.mean, &w.deviation, &w.total, &w.product, &w.dScale, &w.dBias} {
		*x = make([]float64, c)
	}
	w.batch = make([]float64, 2*c)
	return w
}

func (u *unit) bounds() kernel.Bounds {
	if u.relu {
		return kernel.ReLU
	}
	return kernel.Unbounded
}

// forward computes n images and returns the result. With training set it
// normalises them by their own means and variances, else by the running ones.
func (u *unit) forward(w *unitWork, space *kernel.WinogradSpace, all []float32, src, add kernel.FloatImages, n int, training bool) kernel.FloatImages {
	w.clearSums()
	chunks(n, func(first, n int) {
		y := images(w.y, first)
		u.conv.forward(y, images(src, first), n, space)
		if training {
			w.addSums(y, y, n)
		}
	})
	if training {
		w.measure(n)
	} else {
		for i := range u.norm.channels {
			w.mean[i] = float64(u.norm.mean.of(all)[i])
			w.deviation[i] = math.Sqrt(float64(u.norm.variance.of(all)[i]) + arch.Epsilon)
		}
	}
	for i := range u.norm.channels {
		scale := float64(u.norm.scale.of(all)[i]) / w.deviation[i]
		w.scale[i] = float32(scale)
		w.shift[i] = float32(float64(u.norm.bias.of(all)[i]) - scale*w.mean[i])
	}
	w.affine.SetWeights(w.scale, w.shift, len(w.scale))
	w.affine.Apply(w.out, w.y, add, n, u.bounds())
	return w.out
}

func (w *unitWork) clearSums() {
	clear(w.total)
	clear(w.product)
}

// addSums adds, for every channel, the sum of x and that of x·y.
func (w *unitWork) addSums(x, y kernel.FloatImages, n int) {
	clear(w.sums)
	clear(w.products)
	for i := range n {
		kernel.FloatImageSums(w.sums, w.products, x, y, i)
	}
	for i := range w.sums {
		w.total[i] += float64(w.sums[i])
		w.product[i] += float64(w.products[i])
	}
}

// measure turns the sums of n images into means and deviations.
func (w *unitWork) measure(n int) {
	count := float64(n * squares)
	for i := range w.mean {
		mean := w.total[i] / count
		square := w.product[i] / count
		w.mean[i] = mean
		w.deviation[i] = math.Sqrt(max(0, square-mean*mean) + arch.Epsilon)
		w.batch[i] += float64(n) * mean
		w.batch[len(w.mean)+i] += float64(n) * square
	}
}

// back turns d, the derivative with respect to the unit's result for n images,
// into that with respect to the result of its convolution, in w.y, and adds up the
// derivatives with respect to its parameters. src is what forward was given. It
// returns the derivative with respect to what forward added; with a rectifier that
// is in w.out.
func (u *unit) back(w *unitWork, space *kernel.WinogradSpace, src, d kernel.FloatImages, n int) kernel.FloatImages {
	w.clearSums()
	chunks(n, func(first, n int) {
		part := images(d, first)
		if u.relu {
			out, size := images(w.out, first), n*d.Stride()
			kernel.FloatReLUBack(out.Data[:size], out.Data[:size], part.Data[:size])
			part = out
		}
		w.addSums(part, images(w.y, first), n)
	})
	if u.relu {
		d = w.out
	}
	w.backCoefficients(n)
	chunks(n, func(first, n int) {
		y := images(w.y, first)
		w.affine.SetWeights(w.products, w.shift, len(w.shift))
		w.affine.Apply(y, y, noImages, n, kernel.Unbounded)
		w.affine.SetWeights(w.scale, nil, len(w.scale))
		w.affine.Apply(y, images(d, first), y, n, kernel.Unbounded)
		w.gradient.add(images(src, first), y, n, space)
	})
	return d
}

// backCoefficients finds the derivative through the normalisation of n images,
// scale·d + products·y + shift, of the sums of d and d·y.
//
// With x = (y − mean)/deviation, it is scale·(d − mean of d − x·mean of d·x).
func (w *unitWork) backCoefficients(n int) {
	count := float64(n * squares)
	for i := range w.mean {
		dScale := (w.product[i] - w.mean[i]*w.total[i]) / w.deviation[i]
		w.dScale[i] += dScale
		w.dBias[i] += w.total[i]
		scale := float64(w.scale[i])
		slope := -scale * dScale / (count * w.deviation[i])
		w.products[i] = float32(slope)
		w.shift[i] = float32(-scale*w.total[i]/count - slope*w.mean[i])
	}
}

// flush adds what a group's parts have summed up to its gradient and its sums for
// running means and variances, and begins anew.
func (u *unit) flush(w *unitWork, g *group) {
	w.gradient.flush(u.conv, g.gradient)
	for i := range u.norm.channels {
		u.norm.scale.of(g.gradient)[i] += float32(w.dScale[i])
		u.norm.bias.of(g.gradient)[i] += float32(w.dBias[i])
		g.sums[u.norm.mean.from+i-g.first] += w.batch[i]
		g.sums[u.norm.variance.from+i-g.first] += w.batch[len(w.mean)+i]
	}
	clear(w.dScale)
	clear(w.dBias)
	clear(w.batch)
}

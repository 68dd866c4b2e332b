#pragma once

/// @file
/// Includes the whole public interface. Read the headers in the order of their use: dataset, score, curve,
/// partition, calibrator, predictor, predict, evaluate, compare. The others are for files, whole objects and
/// production.

#include <kandinsky/adaptation.hpp>
#include <kandinsky/array.hpp>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/cases.hpp>
#include <kandinsky/choice.hpp>
#include <kandinsky/compare.hpp>
#include <kandinsky/curve.hpp>
#include <kandinsky/dataset.hpp>
#include <kandinsky/error.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/grid.hpp>
#include <kandinsky/image_features.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/measure.hpp>
#include <kandinsky/methods.hpp>
#include <kandinsky/monitor.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>
#include <kandinsky/onnx.hpp>
#include <kandinsky/outline.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/predict.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/reference.hpp>
#include <kandinsky/result.hpp>
#include <kandinsky/risk.hpp>
#include <kandinsky/scenes.hpp>
#include <kandinsky/score.hpp>
#include <kandinsky/sketch.hpp>
#include <kandinsky/threads.hpp>
#include <kandinsky/weights.hpp>

/// Prediction sets for the pixels of a segmentation, with coverage guarantees.
namespace kandinsky {}

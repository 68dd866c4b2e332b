#pragma once

/// The field numbers of onnx.proto that are read or written. By protobuf's rules they never change.
namespace kandinsky::onnx {

namespace model {
enum : unsigned { kIr = 1, kProducer = 2, kProducerVersion = 3, kGraph = 7, kOpset = 8, kProperty = 14 };
}
namespace graph {
enum : unsigned { kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12 };
}
namespace node {
enum : unsigned { kInput = 1, kOutput = 2, kName = 3, kType = 4, kAttribute = 5 };
}
namespace attribute {
enum : unsigned { kName = 1, kInt = 3, kString = 4, kInts = 8, kType = 20 };
enum : unsigned { kIsInt = 2, kIsString = 3, kIsInts = 7 };
}  // namespace attribute
namespace tensor {
enum : unsigned { kDims = 1, kType = 2, kName = 8, kRaw = 9, kLocation = 14 };
}
namespace info {
enum : unsigned { kName = 1, kType = 2 };
}
namespace type {
enum : unsigned { kTensor = 1 };
}
namespace tensor_type {
enum : unsigned { kElement = 1, kShape = 2 };
}
namespace shape {
enum : unsigned { kDim = 1 };
}
namespace dim {
enum : unsigned { kValue = 1, kParam = 2 };
}
namespace opset {
enum : unsigned { kDomain = 1, kVersion = 2 };
}
namespace property {
enum : unsigned { kKey = 1, kValue = 2 };
}

}  // namespace kandinsky::onnx
